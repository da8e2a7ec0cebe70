import { describe, expect, it } from "vitest";
import {
  authMechanisms,
  parseHostName,
  readCapabilities,
  sizeLimit,
} from "#probe-agent/tools/smtp-test/capabilities.ts";
import { createReplyReader } from "#probe-agent/analysis/mail/smtp-reply.ts";
import type { SmtpReply } from "#probe-agent/port/smtp.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

/** Far more time than reading 64 KB needs, and far less than a quadratic reader needs, in milliseconds. */
const PATIENCE_MS = 2_000;

function read(text: string, size = text.length): { replies: SmtpReply[]; end: string | null; rest: string } {
  const reader = createReplyReader();
  const octets = Buffer.from(text, "latin1");
  for (let at = 0; at < octets.length; at += Math.max(size, 1)) reader.push(octets.subarray(at, at + size));
  const replies: SmtpReply[] = [];
  for (let reply = reader.take(); reply !== null; reply = reader.take()) replies.push(reply);
  return { replies, end: reader.end(), rest: reader.rest().text };
}

function first(text: string): SmtpReply | undefined {
  return read(text).replies[0];
}

describe("replies (RFC 5321 section 4.2)", () => {
  it.each([
    ["220 foo.com Simple Mail Transfer Service Ready\r\n", 220, ["foo.com Simple Mail Transfer Service Ready"], []],
    ["250\r\n", 250, [""], []],
    ["250 \r\n", 250, [""], []],
    [
      "250-First line\r\n250-Second line\r\n250-234 Text beginning with numbers\r\n250 The last line\r\n",
      250,
      ["First line", "Second line", "234 Text beginning with numbers", "The last line"],
      [],
    ],
    ["250-a\n250 b\n", 250, ["a", "b"], ["bare_line_feed"]],
    ["220-a\n220-Gr\u00fc\u00dfe\n220 b\n", 220, ["a", "Grüße", "b"], ["bare_line_feed", "eight_bit"]],
    ["250-a\r\n220 b\r\n", 220, ["a", "b"], ["mixed_codes"]],
    ["250-a\r\nwithout a code\r\n250 b\r\n", 250, ["a", "without a code", "b"], ["line_without_code"]],
    ["999 a\r\n", 999, ["a"], ["odd_code"]],
    ["000 a\r\n", 0, ["a"], ["odd_code"]],
    ["250 a\u0000b\r\n", 250, ["a\uFFFDb"], ["control_character"]],
    ["250 a\rb\r\n", 250, ["a b"], ["control_character"]],
    ["250 Gr\u00fc\u00dfe\r\n", 250, ["Grüße"], ["eight_bit"]],
    [`250 ${"x".repeat(506)}\r\n`, 250, [`${"x".repeat(399)}…`], []],
    [`250 ${"x".repeat(507)}\r\n`, 250, [`${"x".repeat(399)}…`], ["long_line"]],
  ])("%.60j", (text, code, lines, faults) => {
    expect(first(text)).toEqual({ code, lines, omitted: 0, faults });
  });

  it("are the same for all sizes of chunks", () => {
    const text = "220-a\r\n220 b\r\n250-c\r\n250-d\n250 e\r\n221 f\r\n";
    const whole = read(text);
    expect(whole.replies.map(({ code }) => code)).toEqual([220, 250, 221]);
    for (const size of [1, 2, 3, 5, 7]) expect(read(text, size)).toEqual(whole);
  });

  it.each([
    ["", null],
    ["220", null],
    ["220-a\r\n", null],
    ["hello\r\n", "not_smtp"],
    ["22\r\n", "not_smtp"],
    ["220_a\r\n", "not_smtp"],
    ["\r\n", "not_smtp"],
    ["HTTP/1.1 400 Bad Request\r\n", "not_smtp"],
    ["x".repeat(65_537), "too_long"],
    ["220-a\r\n".repeat(10_000), "too_long"],
  ])("%.30j is not a reply", (text, end) => {
    expect(read(text)).toMatchObject({ replies: [], end });
  });

  it("that are complete come before the end", () => {
    const reader = createReplyReader();
    reader.push(Buffer.from("220 a\r\nrubbish\r\n"));
    expect(reader.end()).toBeNull();
    expect(reader.take()?.code).toBe(220);
    expect(reader.end()).toBe("not_smtp");
  });

  it("of many lines keep some lines and count the others", () => {
    const reply = first(`${"250-a\r\n".repeat(150)}250 b\r\n`);
    expect([reply?.lines.length, reply?.omitted]).toEqual([100, 51]);
  });

  it("that were not taken are described by octets and text", () => {
    const reader = createReplyReader();
    reader.push(Buffer.from("220 a\r\n250-b\r\nha"));
    reader.take();
    expect(reader.rest()).toEqual({ bytes: 9, text: "b / ha" });
  });

  it("with an endless line need linear time", () => {
    const startedAt = cpuTime();
    const reader = createReplyReader();
    for (let octet = 0; octet < 200_000; octet += 1) reader.push(Buffer.from("x"));
    expect(reader.end()).toBe("too_long");
    expect(cpuTime() - startedAt).toBeLessThan(PATIENCE_MS);
  });
});

describe("replies to EHLO (RFC 5321 section 4.1.1.1)", () => {
  it("are read from the example of appendix D.1", () => {
    const reply = first("250-foo.com greets bar.com\r\n250-8BITMIME\r\n250-SIZE\r\n250-DSN\r\n250 HELP\r\n");
    const { greeting, hostname, extensions } = readCapabilities(reply as SmtpReply);
    expect([greeting, hostname, [...extensions]]).toEqual([
      "foo.com greets bar.com",
      "foo.com",
      [
        ["8BITMIME", ""],
        ["SIZE", ""],
        ["DSN", ""],
        ["HELP", ""],
      ],
    ]);
  });

  it("have keywords in any case; repeats are joined and invalid keywords left out", () => {
    const reply = first(
      "250-a.b\r\n250-size 100\r\n250-AUTH PLAIN\r\n250-AUTH=PLAIN LOGIN\r\n250--x\r\n250-a_b\r\n250 X-OK  y  z\r\n",
    );
    expect([...readCapabilities(reply as SmtpReply).extensions]).toEqual([
      ["SIZE", "100"],
      ["AUTH", "PLAIN LOGIN"],
      ["X-OK", "y z"],
    ]);
  });

  it("can have extensions named like properties of objects", () => {
    const reply = first("250-a.b\r\n250-__proto__ x\r\n250-constructor\r\n250 HELP\r\n");
    expect([...readCapabilities(reply as SmtpReply).extensions.keys()]).toEqual(["CONSTRUCTOR", "HELP"]);
  });

  it.each([
    ["35882577", 35_882_577],
    ["0", null],
    ["", null],
    ["lots", null],
    ["9".repeat(30), null],
  ])("SIZE %s", (stated, bytes) => {
    expect(sizeLimit(new Map([["SIZE", stated]]))).toBe(bytes);
  });

  it("have AUTH mechanisms", () => {
    expect(authMechanisms(new Map([["AUTH", "plain LOGIN"]]))).toEqual(["PLAIN", "LOGIN"]);
    expect(authMechanisms(new Map())).toEqual([]);
  });

  it.each([
    ["mail.example.com ESMTP", "mail.example.com"],
    ["Mail.Example.COM. hi", "mail.example.com"],
    ["[192.0.2.1] hi", "[192.0.2.1]"],
    ["ESMTP ready", null],
    ["***** hi", null],
    ["", null],
  ])("have a host name at the start of %j", (greeting, name) => {
    expect(parseHostName(greeting)).toBe(name);
  });
});
