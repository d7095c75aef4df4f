import { expect, test } from 'vitest';
import { CommandFailed } from '../../../../src/cli/command.ts';
import { stateFolder } from '../../../../src/cli/state-file.ts';

const home = () => '/home/someone';
/** As Node does for a number of a user that is in no list, such as one that a container is started with. */
const noHome = () => {
  throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)');
};

test('states are in the home folder of the user, or where XDG_STATE_HOME says', () => {
  expect(stateFolder({}, home)).toBe('/home/someone/.local/state/shieldlog');
  expect(stateFolder({ XDG_STATE_HOME: '' }, home)).toBe('/home/someone/.local/state/shieldlog');
  expect(stateFolder({ XDG_STATE_HOME: '/states' }, noHome)).toBe('/states/shieldlog');
});

test('a user without a home folder is told to name a place', () => {
  expect(() => stateFolder({}, noHome)).toThrow(CommandFailed);
  expect(() => stateFolder({}, noHome)).toThrow('name one with --state, or with XDG_STATE_HOME');
});
