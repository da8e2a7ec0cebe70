import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Socket } from "node:net";
import { GREETING, type SmtpScript } from "#test/servers/smtp.ts";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { smtpTest } from "#probe-agent/tools/smtp-test/smtp-test.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { MAIL_HOST, startMailWorld } from "#test/support/mail.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";
import { idsOf } from "#test/support/findings.ts";

const world = await startMailWorld();
afterEach(() => world.stop());
afterAll(() => world.close());

describe("STARTTLS that does not work", () => {
  it("is not offered", async () => {
    const { result, server } = await world.test({ ehlo: "250-mail.example.test\r\n250-AUTH PLAIN\r\n250 SIZE 0\r\n" });
    expect(result).toMatchObject({
      starttls: { offered: false, success: null, code: null, tls: null },
      auth_before_tls: true,
      size_limit_bytes: null,
      pipelining: false,
    });
    expect(idsOf(result.findings)).toEqual(["auth-without-tls", "starttls-missing"]);
    expect(server.commands.at(-1)).toBe("QUIT");
  });

  it("is offered and refused", async () => {
    const { result, server } = await world.test({ starttls: "454 4.7.0 TLS not available\r\n" });
    expect(result.starttls).toMatchObject({ offered: true, success: false, code: 454, tls: null, failure: null });
    expect(server.commands).toEqual(["EHLO [127.0.0.1]", "STARTTLS", "QUIT"]);
  });

  const instead: readonly (readonly [string, (socket: Socket) => void, string])[] = [
    ["closes", (socket) => void socket.end(), "closed"],
    ["resets", (socket) => void socket.resetAndDestroy(), "reset"],
    ["continues in clear text", (socket) => void socket.write("500 what?\r\n"), "plain_text"],
    ["sends noise", (socket) => void socket.write(Buffer.alloc(200, 0xa7)), "not_tls"],
  ];

  it.each(instead)("%s instead of a handshake", async (_name, answer, reason) => {
    const { result } = await world.test({
      handshake: (socket) => {
        socket.once("data", () => answer(socket));
        socket.resume();
      },
    });
    expect(result.starttls).toMatchObject({ success: false, failure: { reason }, tls: null });
    expect(result).toMatchObject({ ehlo_tls: null, banner: { code: 220 } });
    expect(idsOf(result.findings)).toContain("tls-fails");
  });

  it("hangs and is reported within the deadline", async () => {
    const { result } = await world.test({ handshake: (socket) => void socket.resume() }, "example.test", {
      timeoutMs: 4_000,
    });
    expect(result.starttls).toMatchObject({ success: false, failure: { reason: "timeout" } });
  });

  it("requires a client certificate and is reported with the certificate that it sent", async () => {
    const { result } = await world.test({
      tls: { requestCert: true, rejectUnauthorized: true, maxVersion: "TLSv1.2" },
    });
    expect(result.starttls).toMatchObject({
      success: false,
      tls: { client_certificate_requested: true, trusted: true },
    });
  });
});

describe("clear text between the answer to STARTTLS and TLS", () => {
  it("is reported if it comes together with the reply, and TLS continues", async () => {
    const { result } = await world.test({ starttls: "220 ready\r\n250-evil.example\r\n250 AUTH PLAIN\r\n" });
    expect(result.starttls).toMatchObject({
      success: true,
      plaintext_after_reply: { bytes: 34, text: "250 evil.example / 250 AUTH PLAIN" },
    });
    expect(result.findings[0]?.id).toBe("plaintext-after-starttls");
    expect(result.ehlo_tls?.extensions).not.toHaveProperty("AUTH");
  });

  it("is reported if it comes later, instead of TLS", async () => {
    const { result } = await world.test({
      starttls: { text: "220 ready\r\n" },
      handshake: (socket) => void setTimeout(() => socket.write("250 late\r\n"), 150),
    });
    expect(result.starttls).toMatchObject({ success: false, plaintext_after_reply: { bytes: 10, text: "250 late" } });
  });
});

describe("servers that refuse", () => {
  const none = { offered: null, success: null };
  it.each<[what: string, script: SmtpScript, expected: object, commands: string, id?: string]>([
    [
      "in their greeting lead to a result and to QUIT",
      { greeting: "554-mail.example.test\r\n554 No SMTP service here\r\n" },
      { banner: { code: 554 }, ehlo: null, starttls: none, pipelining: null },
      "QUIT",
      "server-refuses",
    ],
    [
      "EHLO with 421 do not receive HELO",
      { ehlo: "421 busy\r\n" },
      { ehlo: { code: 421, extensions: {} }, helo_only: false },
      "EHLO QUIT",
    ],
    [
      "EHLO but accept HELO are reported",
      { ehlo: "502 what?\r\n" },
      { helo_only: true, ehlo: { code: 502 }, starttls: { offered: null } },
      "EHLO HELO QUIT",
      "ehlo-refused",
    ],
    [
      "EHLO and HELO are reported",
      { ehlo: "550 no\r\n", helo: "550 no\r\n" },
      { helo_only: false, ehlo: { code: 550 } },
      "EHLO HELO QUIT",
    ],
  ])("%s", async (_what, script, expected, commands, id) => {
    const { result, server } = await world.test(script);
    expect(result).toMatchObject(expected);
    expect(server.commands.join(" ").replaceAll(" [127.0.0.1]", "")).toBe(commands);
    if (id !== undefined) expect(result.findings[0]?.id).toBe(id);
  });

  it("with 421 after three seconds lead to a result with the waiting time", async () => {
    const { result } = await world.test({ greeting: { text: "421 later\r\n", afterMs: 3_000, ending: "close" } });
    expect(result.banner).toMatchObject({ code: 421, text: "later" });
    expect(result.timings_ms.banner).toBeGreaterThan(2_900);
  });
});

describe("servers with unusual replies", () => {
  it("send control characters and overlong lines", async () => {
    const { result } = await world.test({
      ehlo: `250-mail.example.test \u0000\u001b[31m${"x".repeat(600)}\r\n250 SIZE\r\n`,
    });
    expect(result.ehlo?.faults).toEqual(["long_line", "control_character"]);
    expect(JSON.stringify(result)).not.toMatch(/\\u00[01]|\u007f/);
  });

  it("send as much as possible, and the result stays within its limit", async () => {
    const long = (code: number): string => {
      const line = "\u00fc".repeat(640);
      return `${`${code}-${line}\r\n`.repeat(98)}${code} end\r\n`;
    };
    const many = Array.from({ length: 90 }, (_none, index) => `250-X${index} ${"\u00fc".repeat(390)}\r\n`).join("");
    const ehlo = `250-mail.example.test\r\n${many}250 STARTTLS\r\n`;
    const { result } = await world.test({
      greeting: long(220),
      ehlo: ehlo.replace("X1 ", "STARTTLS "),
      starttls: long(454),
    });
    expect(result.banner?.lines.length).toBeGreaterThan(10);
    expect(result.starttls.code).toBe(454);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(MAX_RESULT_BYTES);
    expect(result.limitations).toContain("The transcript is cut.");
  });

  it("have no reverse name, which is distinguished from a failed lookup", async () => {
    const bare = await world.serve({ host: "127.0.0.2" });
    const lookAt = async (more: ToolSetting = {}) =>
      resultOf(smtpTest, { target: "mx2.example.test", port: bare.port }, { ...world.setting, ...more });
    const none = await lookAt();
    expect(none).toMatchObject({ ptr: null, has_ptr: false, fcrdns: null, ptr_match: null });
    expect(idsOf(none.findings)).toContain("no-reverse-name");
    const failing = await startDnsServer({
      zones: { "mx2.example.test": { A: ["127.0.0.2"] } },
      behaviours: { "2.0.0.127.in-addr.arpa": { status: "SERVFAIL" } },
    });
    try {
      const unknown = await lookAt({ dnsServers: [failing.address] });
      expect(unknown).toMatchObject({ ptr: null, has_ptr: null });
      expect(idsOf(unknown.findings).join()).not.toContain("reverse-name");
      expect(unknown.limitations.join(" ")).toContain("reverse name of the address could not be looked up");
    } finally {
      await failing.close();
    }
  });

  it("use another name than the reverse name", async () => {
    const { result } = await world.test({
      greeting: "220 other.example.test ESMTP\r\n",
      ehlo: "250 third.example.test\r\n",
    });
    expect(result).toMatchObject({ ptr: "mail.example.test", ptr_match: false });
    expect(idsOf(result.findings)).toContain("names-differ");
  });

  it("send their greeting octet by octet", async () => {
    const { result } = await world.test({
      greeting: (socket) => {
        for (const [index, character] of GREETING.split("").entries())
          setTimeout(() => socket.write(character), index * 10);
      },
    });
    expect(result.banner?.hostname).toBe("mail.example.test");
  });

  it("do not reply to QUIT, and the result is complete", async () => {
    const { result } = await world.test({ quit: () => undefined });
    expect(result.limitations).toHaveLength(1);
  });
});

describe("connections that end during the conversation", () => {
  const ends: readonly (readonly [string, SmtpScript, object])[] = [
    ["EHLO", { ehlo: { ending: "reset" } }, { banner: { code: 220 }, ehlo: null }],
    ["EHLO", { ehlo: { text: "250-half\r\n", ending: "close" } }, { banner: { code: 220 }, ehlo: null }],
    ["HELO", { ehlo: "500 no\r\n", helo: { ending: "reset" } }, { ehlo: { code: 500 }, helo_only: false }],
    [
      "STARTTLS",
      { starttls: { ending: "reset" }, chain: [] },
      { ehlo: { code: 250 }, starttls: { offered: true, success: null } },
    ],
    ["EHLO under TLS", { ehloSecured: { ending: "reset" } }, { starttls: { success: true }, ehlo_tls: null }],
    ["EHLO under TLS", { ehloSecured: { ending: "close" } }, { starttls: { success: true }, ehlo_tls: null }],
  ];

  it.each(ends)("at %s keep the earlier replies", async (what, script, expected) => {
    const { result } = await world.test(script);
    expect(result).toMatchObject(expected);
    expect(result.limitations[1]).toMatch(new RegExp(`^No answer to ${what} \\((?:reset|closed)\\)`));
  });

  it("without a reply to EHLO are reported within the deadline", async () => {
    const { result } = await world.test({ ehlo: () => undefined }, "example.test", { timeoutMs: 3_500 });
    expect(result.limitations[1]).toContain("No answer to EHLO (timeout)");
  });
});

describe("servers that never greet", () => {
  it.each([
    ["resets", { afterMs: 50, ending: "reset" } as const, "reset", /closed the connection before its greeting/],
    ["closes", { ending: "close" } as const, "closed", /closed the connection before its greeting/],
    [
      "half a greeting",
      { text: "220-half", ending: "close" } as const,
      "closed",
      /after 8 octets, beginning with "220-half"/,
    ],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", "not_smtp", /does not speak SMTP: "SSH-2.0-OpenSSH_9.6"/],
    ["noise", "\u00a7".repeat(70_000), "too_long", /more than 64 KB/],
    ["a greeting without end", "220-and\r\n".repeat(20_000), "too_long", /more than 64 KB/],
  ])("%s", async (_name, greeting, reason, message) => {
    const outcome = await world.failure({ greeting });
    expect(outcome).toMatchObject({ stage: "response", source: "target", reason });
    expect(outcome.message).toMatch(message);
  });

  it("fail with timeout at the deadline", async () => {
    const outcome = await world.failure({ greeting: () => undefined }, "example.test", { timeoutMs: 3_000 });
    expect(outcome).toMatchObject({ stage: "response", reason: "timeout" });
  });

  it("fail if implicit TLS fails without a certificate", async () => {
    const outcome = await world.failure({ implicit: true, handshake: (socket) => void socket.end("220 plain\r\n") });
    expect(outcome).toMatchObject({ stage: "tls", source: "target", reason: "plain_text" });
  });

  it("lead to a result if implicit TLS fails after the certificate", async () => {
    const { result } = await world.test({
      implicit: true,
      tls: { requestCert: true, rejectUnauthorized: true, maxVersion: "TLSv1.2" },
    });
    expect(result).toMatchObject({ banner: null, starttls: { tls: { certificate: { san: [MAIL_HOST] } } } });
  });
});
