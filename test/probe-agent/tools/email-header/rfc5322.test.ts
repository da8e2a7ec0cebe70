import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { readAddressList } from "#probe-agent/tools/email-header/addresses.ts";
import { readMailDate } from "#probe-agent/tools/email-header/date.ts";
import { readHeaderBlock } from "#probe-agent/tools/email-header/fields.ts";

const NOW = new Date("2024-01-03T00:00:00Z");

function analyse(...lines: readonly string[]) {
  return analyseHeaders(lines.join("\r\n"), NOW);
}

/** Returns each mailbox as "name <address>" (- for no name), after its group and a bar. */
function mailboxes(value: string): string[] {
  return readAddressList(value).mailboxes.map(
    ({ name, address, group }) => `${group === null ? "" : `${group} | `}${name ?? "-"} <${address}>`,
  );
}

describe("RFC 5322 appendix A", () => {
  it("A.1.1: one to one", () => {
    const result = analyse(
      "From: John Doe <jdoe@machine.example>",
      "To: Mary Smith <mary@example.net>",
      "Subject: Saying Hello",
      "Date: Fri, 21 Nov 1997 09:55:06 -0600",
      "Message-ID: <1234@local.machine.example>",
      "",
      "This is a message just to say hello.",
    );
    expect(result).toMatchObject({
      from: "John Doe <jdoe@machine.example>",
      to: "Mary Smith <mary@example.net>",
      subject: "Saying Hello",
      date: "1997-11-21T15:55:06.000Z",
      message_id: "<1234@local.machine.example>",
      has_body: true,
    });
  });

  it("A.1.2: different kinds of mailboxes", () => {
    expect(mailboxes('"Joe Q. Public" <john.q.public@example.com>')).toEqual([
      "Joe Q. Public <john.q.public@example.com>",
    ]);
    expect(mailboxes("Mary Smith <mary@x.test>, jdoe@example.org, Who? <one@y.test>")).toEqual([
      "Mary Smith <mary@x.test>",
      "- <jdoe@example.org>",
      "Who? <one@y.test>",
    ]);
    expect(mailboxes('<boss@nil.test>, "Giant; \\"Big\\" Box" <sysservices@example.net>')).toEqual([
      "- <boss@nil.test>",
      'Giant; "Big" Box <sysservices@example.net>',
    ]);
  });

  it("A.1.3: groups, including an empty group", () => {
    expect(mailboxes("A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;")).toEqual([
      "A Group | Ed Jones <c@a.test>",
      "A Group | - <joe@where.test>",
      "A Group | John <jdoe@one.test>",
    ]);
    const empty = readAddressList("Undisclosed recipients:;");
    expect([empty.mailboxes, empty.groups, [...empty.faults]]).toEqual([[], ["Undisclosed recipients"], []]);
    expect(readMailDate("Thu, 13 Feb 1969 23:32:54 -0330")).toEqual({
      time: Date.parse("1969-02-14T03:02:54Z"),
      faults: [],
    });
  });

  it("A.4: trace fields", () => {
    const result = analyse(
      "Received: from x.y.test",
      "   by example.net",
      "   via TCP",
      "   with ESMTP",
      "   id ABC12345",
      "   for <mary@example.net>;  21 Nov 1997 10:05:43 -0600",
      "Received: from node.example by x.y.test; 21 Nov 1997 10:01:22 -0600",
      "From: John Doe <jdoe@node.example>",
      "Date: Fri, 21 Nov 1997 09:55:06 -0600",
    );
    expect(result.hops).toMatchObject([
      { n: 1, from: "node.example", by: "x.y.test", timestamp: "1997-11-21T16:01:22.000Z", delay_s: null },
      {
        n: 2,
        from: "x.y.test",
        by: "example.net",
        via: "TCP",
        with: "ESMTP",
        id: "ABC12345",
        for: "mary@example.net",
        delay_s: 261,
      },
    ]);
    expect(result).toMatchObject({ total_delay_s: 261, date_to_first_hop_s: 376 });
  });

  it("A.5: white space, comments and other oddities", () => {
    const result = analyse(
      "From: Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>",
      "To:A Group(Some people)",
      "     :Chris Jones <c@(Chris's host.)public.example>,",
      "         joe@example.org,",
      "  John <jdoe@one.test> (my dear friend); (the end of the group)",
      "Cc:(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;",
      "Date: Thu,",
      "      13",
      "        Feb",
      "          1969",
      "      23:32",
      "               -0330 (Newfoundland Time)",
      "Message-ID:              <testabcd.1234@silly.test>",
    );
    expect(result.addresses.map(({ field, name, address, group }) => [field, name, address, group])).toEqual([
      ["from", "Pete", "pete@silly.test", null],
      ["to", "Chris Jones", "c@public.example", "A Group"],
      ["to", null, "joe@example.org", "A Group"],
      ["to", "John", "jdoe@one.test", "A Group"],
    ]);
    expect(result).toMatchObject({ date: "1969-02-14T03:02:00.000Z", message_id: "<testabcd.1234@silly.test>" });
  });

  it("A.6.1: obsolete addressing: a route, an empty element, spaces around a dot", () => {
    const { faults } = readAddressList("Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example");
    expect(mailboxes("Joe Q. Public <john.q.public@example.com>")).toEqual([
      "Joe Q. Public <john.q.public@example.com>",
    ]);
    expect(mailboxes("Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example")).toEqual([
      "Mary Smith <mary@example.net>",
      "- <jdoe@test.example>",
    ]);
    expect([...faults]).toEqual(["obsolete_route"]);
  });

  it("A.6.2: obsolete date", () => {
    expect(readMailDate("21 Nov 97 09:55:06 GMT")).toEqual({
      time: Date.parse("1997-11-21T09:55:06Z"),
      faults: ["obsolete_year"],
    });
  });

  it("A.6.3: obsolete white space and comments, including a folded line of spaces", () => {
    const result = analyse(
      "From  : John Doe <jdoe@machine(comment).  example>",
      "To    : Mary Smith",
      "  ",
      "          <mary@example.net>",
      "Subject     : Saying Hello",
      "Date  : Fri, 21 Nov 1997 09(comment):   55  :  06 -0600",
      "Message-ID  : <1234   @   local(blah)  .machine .example>",
      "",
      "Testing.",
    );
    expect(result.addresses.map(({ name, address }) => [name, address])).toEqual([
      ["John Doe", "jdoe@machine.example"],
      ["Mary Smith", "mary@example.net"],
    ]);
    expect(result).toMatchObject({
      subject: "Saying Hello",
      date: "1997-11-21T15:55:06.000Z",
      message_id: "<1234@local.machine.example>",
      mbox_from: null,
    });
  });
});

describe("addresses in practice", () => {
  it.each([
    ["jdoe@one.test (John Doe)", ["John Doe <jdoe@one.test>"]],
    ["<root>", ["- <root>"]],
    ["<>", ["- <>"]],
    ['"joe blow"@one.test', ['- <"joe blow"@one.test>']],
    ["x@[IPv6:2001:db8::1], y@[192.0.2.1]", ["- <x@[IPv6:2001:db8::1]>", "- <y@[192.0.2.1]>"]],
    ["=?utf-8?Q?J=C3=B6rg?= =?utf-8?Q?_M=2E?= <j@one.test>", ["Jörg M. <j@one.test>"]],
    ["John <jdoe@one.test", ["John <jdoe@one.test>"]],
    ['"John <jdoe@one.test>', ['"John <jdoe@one.test>']],
    ["用户@例え.test", ["- <用户@例え.test>"]],
    [",,;;:", []],
  ])("%s", (value, expected) => {
    expect(mailboxes(value)).toEqual(expected);
  });

  it.each([
    // Commas in an unquoted name before the address in brackets.
    ["Account team ,_<no-reply@a.test>", ["Account team ,_ <no-reply@a.test>"]],
    ["Name,(<service@a.test>)", ["Name <service@a.test>"]],
    [
      "Doe, John <j@a.test>, Roe, Ann, Dr. <r@b.test>, c@c.test",
      ["Doe, John <j@a.test>", "Roe, Ann, Dr. <r@b.test>", "- <c@c.test>"],
    ],
    [
      "Friends: Ann, Lee <l@a.test>, b@b.test;, Acme, Inc. <c@c.test>",
      ["Friends | Ann, Lee <l@a.test>", "Friends | - <b@b.test>", "Acme, Inc. <c@c.test>"],
    ],
    ["=?utf-8?Q?Doe,_J=C3=B6rg?= <j@a.test>", ["Doe, Jörg <j@a.test>"]],
    ["Support: Acme <a@a.test>", ["Support: Acme <a@a.test>"]],
    // A display name that looks like an address is not an address.
    ["Account team", []],
    ["PayPal", []],
    ['"Acme <a@a.test>"', []],
    ["=?utf-8?Q?service@a.test?=", []],
    ["undisclosed-recipients:", []],
    ["service@bank.test <x@evil.test>", ["service@bank.test <x@evil.test>"]],
    ["=?utf-8?Q?service@bank.test?= <x@evil.test>", ["service@bank.test <x@evil.test>"]],
    ["Name a@a.test", ["Name <a@a.test>"]],
    ["<Name> a@a.test", ["Name <a@a.test>"]],
    // Unpaired or repeated brackets.
    ["A <a@a.test, B <b@b.test>", ["A <a@a.test>", "B <b@b.test>"]],
    ["Name a@a.test>", ["Name <a@a.test>"]],
    ["<<a@a.test>>", ["- <a@a.test>"]],
    ["Name <mailto:a@a.test>", ["Name <a@a.test>"]],
    ["mailto:a@a.test", ["- <a@a.test>"]],
    ["a@b@c.test", ["- <a@b@c.test>"]],
  ])("%s: the address is in the brackets or has an @", (value, expected) => {
    expect(mailboxes(value)).toEqual(expected);
  });
});

describe("dates in practice", () => {
  it.each([
    ["Tue, 02 Jan 2024 10:00:00 +0000", "2024-01-02T10:00:00Z", []],
    ["2 Jan 2024 10:00:00 -0000", "2024-01-02T10:00:00Z", ["zone_unknown"]],
    ["Tue, 2 Jan 2024 10:00 EST", "2024-01-02T15:00:00Z", []],
    ["Tue, 2 Jan 2024 10:00:00", "2024-01-02T10:00:00Z", ["zone_unknown"]],
    ["Tue, 2 Jan 2024 10:00:00 A", "2024-01-02T10:00:00Z", ["zone_unknown"]],
    ["Tue, 2 Jan 2024 10:00:00 GMT+0200", "2024-01-02T08:00:00Z", []],
    ["Tuesday, 02-Jan-24 10:00:00 GMT", "2024-01-02T10:00:00Z", ["obsolete_year"]],
    ["Tue Jan  2 10:00:00 2024", "2024-01-02T10:00:00Z", ["zone_unknown"]],
    ["Tue Jan  2 10:00:00 PST 2024", "2024-01-02T18:00:00Z", []],
    ["Fri, Feb 15 2002 17:19:07 -0800", "2002-02-16T01:19:07Z", []],
    ["2024-01-02T10:00:00.123+01:00", "2024-01-02T09:00:00Z", []],
    ["Sat, 31 Dec 2016 23:59:60 +0000", "2017-01-01T00:00:00Z", []],
    ["1 Jan 49 00:00:00 GMT", "2049-01-01T00:00:00Z", ["obsolete_year"]],
    ["1 Jan 50 00:00:00 GMT", "1950-01-01T00:00:00Z", ["obsolete_year"]],
    ["1 Jan 102 00:00:00 GMT", "2002-01-01T00:00:00Z", ["obsolete_year"]],
    ["Wed, 2 Jan 2024 10:00:00 +0000", "2024-01-02T10:00:00Z", ["wrong_weekday"]],
  ])("%s", (text, time, faults) => {
    expect(readMailDate(text)).toEqual({ time: Date.parse(time), faults });
  });

  it.each([
    ["", "unreadable"],
    ["tomorrow", "unreadable"],
    ["31 Feb 2024 10:00:00 +0000", "impossible"],
    ["1 Foo 2024 10:00:00 +0000", "impossible"],
    ["1 Jan 2024 24:00:00 +0000", "impossible"],
    ["9".repeat(100_000), "unreadable"],
  ])("%.40s is not a time", (text, fault) => {
    expect(readMailDate(text)).toEqual({ time: null, faults: [fault] });
  });
});

describe("the header block", () => {
  const values = (text: string): string[] => readHeaderBlock(text).fields.map(({ name, value }) => `${name}=${value}`);

  it.each([
    ["CRLF", "A: 1\r\nB: 2\r\n\r\nC: 3", "crlf"],
    ["LF", "A: 1\nB: 2\n\nC: 3", "lf"],
    ["CR", "A: 1\rB: 2\r\rC: 3", "cr"],
    ["a mixture", "A: 1\r\nB: 2\n\nC: 3", "mixed"],
    ["text converted twice", "A: 1\r\r\nB: 2\r\r\n\r\r\nC: 3", "crlf"],
  ])("ends at the empty line, with %s", (_name, text, endings) => {
    expect(values(text)).toEqual(["A=1", "B=2"]);
    expect(readHeaderBlock(text)).toMatchObject({ lineEndings: endings, hasBody: true });
  });

  it("begins after blank lines, a byte order mark and mbox's From line", () => {
    const block = readHeaderBlock("\uFEFF\n\nFrom a@b.example Tue Jan  2 10:00:00 2024\nA: 1\n");
    expect(block.fields.map(({ key }) => key)).toEqual(["a"]);
    expect(block.mboxFrom).toBe("From a@b.example Tue Jan  2 10:00:00 2024");
    expect(readHeaderBlock(">From a\nA: 1").mboxFrom).toBe(">From a");
  });

  it("joins folded lines with tabs and spaces and keeps inner white space", () => {
    expect(values("A: one\r\n\ttwo\r\n  three \r\nB:")).toEqual(["A=one\ttwo  three", "B="]);
  });

  it("joins an unindented line to the field above and counts it", () => {
    const block = readHeaderBlock("A: one\ntwo three\nB: 2");
    expect(block.fields.map(({ value }) => value)).toEqual(["one two three", "2"]);
    expect(block.faults.unindented_continuation).toBe(1);
  });

  it("does not read the time of a folded date as a field if the indentation was lost", () => {
    const block = readHeaderBlock("Received: by a.example; Fri, 20 Nov 2026\r\n10:00:09 +0000\r\nSubject: x\r\n");
    expect(block.fields.map(({ name, value }) => [name, value])).toEqual([
      ["Received", "by a.example; Fri, 20 Nov 2026 10:00:09 +0000"],
      ["Subject", "x"],
    ]);
    expect(block.faults.unindented_continuation).toBe(1);
  });

  it("keeps 5,000 fields and counts the others", () => {
    const block = readHeaderBlock("A: 1\n".repeat(5010));
    expect([block.fields.length, block.omitted]).toEqual([5000, 10]);
  });

  it.each(["a b: 1", ": 1", "a\u0000: 1", "ä: 1", `${"x".repeat(300)}: 1`])(
    "does not read %.20j as a field",
    (line) => {
      expect(readHeaderBlock(line)).toMatchObject({ fields: [], faults: { stray_line: 1 } });
    },
  );
});
