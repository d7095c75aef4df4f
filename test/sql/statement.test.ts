import { describe, expect, it } from 'vitest';
import { joinSql, sql, text } from '../../sql/statement.ts';

describe('a fragment', () => {
  const count = 300_000;
  const many = () =>
    joinSql(
      Array.from({ length: count }, (_, index) => sql`${text(`value ${index}`)}`),
      ', ',
    );

  it('may have more parameters than a call has room for arguments', () => {
    expect(many().params).toHaveLength(count);
  });

  it('with that many parameters goes into another one, in their order', () => {
    const whole = sql`SELECT * FROM t WHERE a IN (${many()}) AND b = ${text('last')}`;
    expect(whole.params).toHaveLength(count + 1);
    expect(whole.chunks).toHaveLength(count + 2);
    expect(whole.params.at(-1)?.value).toBe('last');
    expect(joinSql([whole, whole], ' UNION ').params).toHaveLength(2 * (count + 1));
  });

  it('is on one line, whatever lines its template has, and leaves line breaks of values alone', () => {
    const { chunks, params } = sql`SELECT a
      FROM ${text('a\n b')}
      WHERE b`;
    expect(chunks).toEqual(['SELECT a FROM ', ' WHERE b']);
    expect(params).toEqual([text('a\n b')]);
  });
});
