import { startAsking } from './state/answers.ts';

// The first question is asked as soon as what it takes is there; meanwhile the browser loads the rest of the page.
startAsking();
