import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RefCounted } from '../../../../store/embedded/runtime/ref-counted.ts';
import { assertProperty } from '../../../random/assert-property.ts';

test('in any order of users that come and go, it is freed once, with the last of them, and is of no use from then on', () => {
  const steps = fc.array(fc.constantFrom('acquire' as const, 'release' as const), { maxLength: 60 });
  assertProperty(
    fc.property(steps, (taken) => {
      let users = 1;
      let freed = 0;
      const counted = new RefCounted(() => {
        freed += 1;
      });
      for (const step of taken) {
        if (users === 0) {
          expect(() => counted[step]()).toThrow('has been freed');
        } else {
          counted[step]();
          users += step === 'acquire' ? 1 : -1;
        }
        expect(counted.users).toBe(users);
        expect(freed).toBe(users === 0 ? 1 : 0);
      }
    }),
  );
});
