import { expect, test } from 'vitest';
import { searchLineNotes } from '../../../query/request/search-line-notes.ts';

test.each<[line: string, ...notes: string[]]>([
  ['fe80::1', 'fe80::1 is searched as a text; ip:fe80::1 finds the address in any spelling'],
  ['::1', '::1 is searched as a text; ip:::1 finds the address in any spelling'],
  ['2001:db8::1', '2001:db8::1 is searched as a text; ip:2001:db8::1 finds the address in any spelling'],
  ['192.0.2.1', '192.0.2.1 is searched as a text; ip:192.0.2.1 finds the address in any spelling'],
  ['192.0.2.0/24', '192.0.2.0/24 is searched as a text; ip:192.0.2.0/24 finds the addresses of the network'],
  ['fe80::/10 login', 'fe80::/10 is searched as a text; ip:fe80::/10 finds the addresses of the network'],
  ['192[.]0[.]2[.]1', '192[.]0[.]2[.]1 is searched as it is written; ip:192.0.2.1 is what it stands for'],
  ['2001[:]db8[::]1', '2001[:]db8[::]1 is searched as it is written; ip:2001:db8::1 is what it stands for'],
  ['ip:192[.]0[.]2[.]1', 'ip:192[.]0[.]2[.]1 is searched as it is written; ip:192.0.2.1 is what it stands for'],
  ['-ip:192(.)0(.)2(.)0/24', '-ip:192(.)0(.)2(.)0/24 is searched as it is written; -ip:192.0.2.0/24 is what it stands for'],
  ['hxxp://example.net/x', 'hxxp://example.net/x is searched as it is written; http://example.net/x is what it stands for'],
  ['hXXps[:]//example{.}net', 'hXXps[:]//example{.}net is searched as it is written; https://example.net is what it stands for'],
  ['example[dot]net', 'example[dot]net is searched as it is written; example.net is what it stands for'],
  ['url:hxxps://example[.]net', 'url:hxxps://example[.]net is searched as it is written; url:https://example.net is what it stands for'],
  ['192.0.2.1:443', '192.0.2.1:443 is searched as it is written; ip:192.0.2.1 finds the address alone'],
  ['[2001:db8::1]:443', '[2001:db8::1]:443 is searched as it is written; ip:2001:db8::1 finds the address alone'],
  ['[::1]', '[::1] is searched as it is written; ip:::1 finds the address alone'],
  ['fe80::1%eth0', 'fe80::1%eth0 is searched as it is written; ip:fe80::1 finds the address alone'],
  ['192[.]0[.]2[.]1:443', '192[.]0[.]2[.]1:443 is searched as it is written; ip:192.0.2.1 is what it stands for'],
  ['ip:192.0.2.1:443', 'ip:192.0.2.1:443 looks for it as it is written; ip:192.0.2.1 is the address alone'],
  ['-ip:[::1]:443,::2', '-ip:[::1]:443,::2 looks for it as it is written; -ip:::1,::2 is the address alone'],
  ['192.0.2.1,192.0.2.2', '2 addresses are searched as texts; ip:192.0.2.1,192.0.2.2 finds any of them'],
  ['192.0.2.1, 192.0.2.0/24; ::1', '3 addresses are searched as texts; ip:192.0.2.1,192.0.2.0/24,::1 finds any of them'],
  ['192.0.2.1:80 login [::1]:443', '2 addresses are searched as texts; ip:192.0.2.1,::1 finds any of them'],
  ['192[.]0[.]2[.]1 192.0.2.2 192.0.2.2', '2 addresses are searched as texts; ip:192.0.2.1,192.0.2.2 finds any of them'],
  ['ip:192.0.2.1 192.0.2.2', '192.0.2.2 is searched as a text; ip:192.0.2.2 finds the address in any spelling'],
  [
    Array.from({ length: 30 }, (_, index) => `192.0.2.${index}`).join(' '),
    '30 addresses are searched as texts; ip:192.0.2.0,192.0.2.1,… finds any of them',
  ],
  ['192.0.2.1\u200b', '192.0.2.1\u200b has the invisible character U+200B in it; ip:192.0.2.1 has not'],
  ['fe80::1\u200b', 'fe80::1\u200b has the invisible character U+200B in it; ip:fe80::1 has not'],
  ['ruleName:sqli', 'ruleName:sqli is searched as a text, because ruleName is no filter; sqli finds it in rule names, too'],
  ['RULENAME:~"a b"', 'RULENAME:~a b is searched as a text, because ruleName is no filter; "a b" finds it in rule names, too'],
  ['rule_name:*sqli*', 'rule_name:*sqli* is searched as a text, because ruleName is no filter; sqli finds it in rule names, too'],
  ['ruleName:', 'ruleName: is searched as a text, because ruleName is no filter; words find rule names, and ruleId is a filter'],
  ['-ruleName:x', '-ruleName:x is searched as a text, because ruleName is no filter; words find rule names, and ruleId is a filter'],
])('of an address or a url that is no filter, the spelling is told that may be meant: %s', (line, ...notes) => {
  expect(searchLineNotes(line).map(({ note }) => note)).toEqual(notes);
});
