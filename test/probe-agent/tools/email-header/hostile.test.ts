import { describe, expect, it } from "vitest";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const NOW = new Date("2024-01-03T00:00:00Z");
/** Far more time than these inputs need (tens of milliseconds), far less than a quadratic parser needs. */
const PATIENCE_MS = 5_000;

/** Repeats a pattern up to the size limit. */
function filled(pattern: string, start = ""): string {
  return (start + pattern.repeat(Math.ceil(MAX_HEADERS_BYTES / pattern.length))).slice(0, MAX_HEADERS_BYTES);
}

/** All fields whose values are parsed. */
const STRUCTURED = [
  "From",
  "Subject",
  "Date",
  "Message-ID",
  "Received",
  "Authentication-Results",
  "Received-SPF",
  "DKIM-Signature",
  "ARC-Authentication-Results",
  "List-Unsubscribe",
  "Content-Type",
  "X-Spam-Status",
];

/** Values that make some parsers slow. */
const VALUES: readonly (readonly [string, string])[] = [
  ["nested comments", "("],
  ["nested comments closed", "()"],
  ["quotes", '"'],
  ["escaped quotes", '"\\'],
  ["quoted pairs", "\\"],
  ["brackets", "["],
  ["angles", "<"],
  ["commas", ","],
  ["colons", "a:"],
  ["semicolons", ";"],
  ["equals", "="],
  ["pairs", "a=b;"],
  ["properties", "a.b=c "],
  ["addresses", "a@b.example,"],
  ["at signs", "@"],
  ["keywords", "from by with id for via "],
  ["openings of encoded words", "=?"],
  ["half encoded words", "=?utf-8?Q?"],
  ["encoded words", "=?utf-8?Q?a?= "],
  ["encoded words of unknown charsets", "=?x-1?Q?a?= "],
  ["base64 words", "=?utf-8?B?PT91dGYtOD9RP2E/PQ==?= "],
  ["blanks", " "],
  ["folds", "a\r\n "],
  ["parameters", "; a*0*=%41"],
  ["sections", "; a*1=b; a*2=c"],
  ["tags", "h=from:to:"],
  ["addresses in brackets", "[192.0.2.1] "],
  ["TLS remarks", "(using TLSv1.3 with cipher A (1/"],
  ["control characters", "\u0000\u001b\u007f"],
  ["invisible characters", "\u200B\u202E"],
  ["characters of several octets", "\u{1F600}"],
  ["lone surrogates", "\uD800"],
];

/** Returns the faults of the result: [] if it came in time, within the size limit and in printable characters. */
function faultsOf(raw: string): string[] {
  const startedAt = cpuTime();
  const result = analyseHeaders(raw, NOW);
  const tookMs = cpuTime() - startedAt;
  const json = JSON.stringify(result);
  const bytes = Buffer.byteLength(json);
  const unprintable = /\\u00[01][0-9a-f]|\\[ntrbf]|\\ud[89a-f]|\u007f/.exec(json);
  return [
    ...(tookMs > PATIENCE_MS ? [`took ${tookMs} ms`] : []),
    ...(bytes > MAX_RESULT_BYTES ? [`${bytes} octets`] : []),
    ...(unprintable === null ? [] : [`holds ${unprintable[0]}`]),
  ];
}

describe.each(STRUCTURED)("256 KB in one %s field", (name) => {
  it.each(VALUES)("of %s", (_what, pattern) => {
    expect(faultsOf(filled(pattern, `${name}: i=1; `))).toEqual([]);
  });
});

describe("256 KB of fields", () => {
  it.each(STRUCTURED)("each of them %s", (name) => {
    expect(faultsOf(filled(`${name}: i=1; a (b) "c" <d@e.example>, f=g; spf=pass x.y=z\r\n`))).toEqual([]);
    expect(faultsOf(filled(`${name}:\r\n`))).toEqual([]);
  });

  it.each([
    ["long values that do not shrink", `X-Spam-Report: ${"é".repeat(900)}\r\n`],
    ["long addresses", `From: ${"\u{1F600}".repeat(200)}@b.example\r\n`],
    ["quotes to escape", `Subject: ${'"'.repeat(500)}\r\n`],
    [
      "received of long names",
      `Received: from ${"x".repeat(500)} by ${"y".repeat(500)} for ${"z".repeat(500)}; 2 Jan 2024 09:00:00 GMT\r\n`,
    ],
    [
      "long signatures",
      `DKIM-Signature: v=1; d=${"a.".repeat(200)}b; h=${"from:".repeat(200)}; b=${"QUJD".repeat(300)}\r\n`,
    ],
    ["sets", "ARC-Seal: i=7; cv=pass; d=a.example\r\nARC-Message-Signature: i=8; h=a:b:c\r\n"],
    ["results", `Authentication-Results: a.example${"; spf=pass (x) smtp.mailfrom=b.example".repeat(90)}\r\n`],
  ])("%s", (_what, line) => {
    expect(faultsOf(filled(line))).toEqual([]);
  });

  it.each(["\u{1F600}", "\u20AC", '"', "x"])("every field at once, all of %s", (filler) => {
    const long = filler.repeat(400);
    const names = "From Sender Reply-To To Cc"
      .split(" ")
      .map((name) => `${name}: ${`${long}@${long}.example, `.repeat(4)}`);
    const blocks = [
      ...names,
      `Subject: ${filler.repeat(2000)}`,
      `Return-Path: <${long}@${long}>`,
      `Message-ID: <${long}@${long}>`,
      `Content-Type: ${long}${`; ${long}=${long}`.repeat(3)}`,
      `List-Unsubscribe: ${`<https://a.example/${long}>, <mailto:${long}>, <http://${long}>, `.repeat(4)}`,
      `Authentication-Results: ${long}; spf=pass (${long}) smtp.mailfrom=${long}; dmarc=fail (${long}) header.from=${long}; arc=pass (${long}); dkim=pass (${long}) header.d=${long} header.s=${long} header.i=${long}`,
      `Received-SPF: pass (${long}) client-ip=${long}; envelope-from=${long}; helo=${long}`,
      `Received: from ${long} (${long}) by ${long} via ${long} with ${long} id ${long} for ${long}; ${long}`,
      `DKIM-Signature: v=${long}; a=${long}; d=${long}; s=${long}; i=${long}; bh=${long}; b=${long}; h=${long}:${long}`,
      `ARC-Seal: i=1; cv=${long}; d=${long}; s=${long}; a=${long}`,
      `ARC-Authentication-Results: i=1; ${long}; ${long}=${long}`,
      `X-Spam-Status: ${long}`,
    ].join("\r\n");
    const rest = `\r\nReceived: from ${long} by ${long} with ${long} id 1 for ${long}`.repeat(30);
    expect(faultsOf(blocks + rest)).toEqual([]);
  });

  it("with a hundred thousand folds", () => {
    expect(faultsOf(`Subject: a${"\n b".repeat(85_000)}`)).toEqual([]);
    expect(faultsOf(`Subject: a${"\n ".repeat(100_000)}`)).toEqual([]);
  });

  it("that consist only of line endings", () => {
    for (const end of ["\r", "\n", "\r\n", "\r\r\n", "\r\r"]) expect(faultsOf(filled(end))).toEqual([]);
    for (const end of ["\r", "\n", "\r\n", "\r\r\n"]) expect(faultsOf(filled(`a${end}`))).toEqual([]);
    expect(faultsOf(filled("\r", "A: 1\n"))).toEqual([]);
  });

  it("beyond the limits are reported", () => {
    const { limitations } = analyseHeaders("A: 1\r\n".repeat(60_000), NOW);
    expect(limitations).toContain("Only the first 256 KB were read.");
    expect(limitations).toContain("Only the first 5000 fields were read.");
  });
});

describe("noise", () => {
  it("of any kind never throws", () => {
    // A fixed multiplicative generator makes the same noise in every run.
    let state = 12_345;
    const next = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const pieces = [
      ...VALUES.map(([, pattern]) => pattern),
      ...STRUCTURED.map((name) => `\r\n${name}: `),
      "pass",
      "a.example",
    ];
    for (let round = 0; round < 400; round += 1) {
      const raw = Array.from({ length: 60 }, () => pieces[next(pieces.length)]).join("");
      expect(() => analyseHeaders(raw, NOW)).not.toThrow();
    }
  });
});
