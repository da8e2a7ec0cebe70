import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { decodeWords } from "#probe-agent/tools/email-header/encoded-words.ts";
import { readParameters } from "#probe-agent/tools/email-header/parameters.ts";

describe("RFC 2047 section 8", () => {
  it.each([
    ["(=?ISO-8859-1?Q?a?=)", "(a)"],
    ["(=?ISO-8859-1?Q?a?= b)", "(a b)"],
    ["(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)", "(ab)"],
    ["(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)", "(ab)"],
    ["(=?ISO-8859-1?Q?a?=\r\n    =?ISO-8859-1?Q?b?=)", "(ab)"],
    ["(=?ISO-8859-1?Q?a_b?=)", "(a b)"],
    ["(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)", "(a b)"],
    ["(=?Big5?B?ne8=?= =?EUC-KR?B?jGM=?=)", "(嘅똠)"],
    ["(=?hz-gb-2312?Q?a?=)", "(=?hz-gb-2312?Q?a?=)"],
  ])("%j is decoded to %s", (encoded, shown) => {
    expect(decodeWords(encoded).text).toBe(shown);
  });

  it("a message with names and a subject in several charsets", () => {
    const result = analyseHeaders(
      [
        "From: =?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.edu>",
        "To: =?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?= <keld@dkuug.dk>",
        "CC: =?ISO-8859-1?Q?Andr=E9?= Pirard <PIRARD@vm1.ulg.ac.be>",
        "Subject: =?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=",
        "    =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=",
      ].join("\r\n"),
      new Date(0),
    );
    expect(result.addresses.map(({ name }) => name)).toEqual(["Keith Moore", "Keld Jørn Simonsen", "André Pirard"]);
    expect(result.subject).toBe("If you can read this you understand the example.");
  });

  it("a name in Hebrew, in a comment", () => {
    const result = analyseHeaders(
      "From: Nathaniel Borenstein <nsb@thumper.bellcore.com>\r\n (=?iso-8859-8?b?7eXs+SDv4SDp7Oj08A==?=)",
      new Date(0),
    );
    expect(result.from).toBe(
      "Nathaniel Borenstein <nsb@thumper.bellcore.com> (\u05DD\u05D5\u05DC\u05E9 \u05DF\u05D1 \u05D9\u05DC\u05D8\u05E4\u05E0)",
    );
  });
});

describe("encoded words in practice", () => {
  it.each([
    ["=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"],
    ["=?utf-8?q?=C3?= =?utf-8?q?=A9?=", "é"],
    ["=?utf-8?B?w6k?=", "é"],
    ["=?UTF-8*de?Q?=C3=A9?=", "é"],
    ["=?iso-2022-jp?B?GyRCJDMkcyRLJEEkTxsoQg==?=", "こんにちは"],
    ["=?gb2312?B?xOO6ww==?=", "你好"],
    ["=?koi8-r?B?0NLJ18XU?=", "привет"],
    ["=?windows-1252?Q?=80?=", "€"],
    ["a=?utf-8?Q?b?=c", "abc"],
    ["=?utf-8?Q?=ff?=", "\uFFFD"],
    ["=?utf-8?Q?=zz=4?=", "=zz=4"],
    ["=?utf-8?Q??=", ""],
    ["=?utf-8?B?PT91dGYtOD9RP2E/PQ==?=", "=?utf-8?Q?a?="],
  ])("%s", (encoded, shown) => {
    expect(decodeWords(encoded)).toEqual({ text: shown, decoded: encoded.match(/\?[bq]\?/gi)?.length, malformed: 0 });
  });

  it.each([
    "=?no-such-charset?Q?a?=",
    "=?utf-8?X?a?=",
    "=?utf-8?B?$$$$?=",
    "=?utf-8?Q?not closed",
    "=?utf-8?Q?with blanks in it?=",
  ])("%s is unchanged and counted", (text) => {
    expect(decodeWords(text)).toEqual({ text, decoded: 0, malformed: 1 });
  });

  it("similar texts are not encoded words", () => {
    expect(decodeWords("1+1=?2 ?= 3")).toEqual({ text: "1+1=?2 ?= 3", decoded: 0, malformed: 0 });
  });
});

describe("RFC 2231", () => {
  const parameters = (text: string): Record<string, string> =>
    Object.fromEntries(readParameters(text).parameters.map(({ name, value }) => [name, value]));

  it("section 3: continuations", () => {
    const text =
      'message/external-body; access-type=URL; URL*0="ftp://"; URL*1="cs.utk.edu/pub/moore/bulk-mailer/bulk-mailer.tar"';
    expect(readParameters(text).value).toBe("message/external-body");
    expect(parameters(text)).toEqual({
      "access-type": "URL",
      url: "ftp://cs.utk.edu/pub/moore/bulk-mailer/bulk-mailer.tar",
    });
  });

  it("section 4: charset and language", () => {
    expect(parameters("application/x-stuff; title*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A")).toEqual({
      title: "This is ***fun***",
    });
  });

  it("section 4.1: both together", () => {
    const text =
      "application/x-stuff; title*0*=us-ascii'en'This%20is%20even%20more%20; title*1*=%2A%2A%2Afun%2A%2A%2A%20; title*2=\"isn't it!\"";
    expect(parameters(text)).toEqual({ title: "This is even more ***fun*** isn't it!" });
  });

  it("section 5: a language in an encoded word", () => {
    expect(decodeWords("=?US-ASCII*EN?Q?Keith_Moore?=").text).toBe("Keith Moore");
  });

  it.each([
    ["a character cut in two sections", "x/y; n*0*=utf-8''%C3; n*1*=%A9", { n: "é" }],
    ["the extended form before the plain one", "x/y; n=plain; n*=utf-8''%C3%A9", { n: "é" }],
    ["sections out of order", "x/y; n*1=b; n*0=a", { n: "ab" }],
    ["a gap, which ends it", "x/y; n*0=a; n*2=c", { n: "a" }],
    ["an encoded word, which should not be there", 'x/y; n="=?utf-8?Q?=C3=A9?="', { n: "é" }],
    ["an unknown charset, as octets", "x/y; n*=no-such''%41", { n: "A" }],
    ["a repeated one, the first", "x/y; n=a; n=b", { n: "a" }],
    [
      "a name out of the language's depths",
      "x/y; __proto__=a; constructor=b",
      JSON.parse('{"__proto__": "a", "constructor": "b"}'),
    ],
    ["comments and quotes", 'x/y (why); n="a;b\\"c" (z)', { n: 'a;b"c' }],
  ])("%s", (_name, text, expected) => {
    expect(parameters(text)).toEqual(expected);
  });
});
