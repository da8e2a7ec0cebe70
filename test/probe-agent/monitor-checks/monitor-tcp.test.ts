import { afterAll, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { monitorTcp } from "#probe-agent/monitor-checks/monitor-tcp.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { ocspResponse } from "#test/servers/ocsp.ts";
import { createPki, daysFromNow, type Issued } from "#test/servers/pki.ts";
import { startTalker, type Talker, type TalkerScript } from "#test/servers/talker.ts";
import { drip, writeForever } from "#test/servers/wire.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { until } from "#test/support/until.ts";

const HOST = "mail.example.net";
const pki = await createPki();
const chain = [await pki.issue({ dns: [HOST] }), pki.intermediate];
const expired = [await pki.issue({ dns: [HOST], notAfter: daysFromNow(-2) }), pki.intermediate];
const dns = await startDnsServer({ zones: { [HOST]: { A: ["127.0.0.1"] } } });
afterAll(() => dns.close());
const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };

/** Runs a check against a server. */
async function against<T>(script: TalkerScript, run: (server: Talker) => Promise<T>): Promise<T> {
  const server = await startTalker(script);
  try {
    return await run(server);
  } finally {
    await server.close();
  }
}

/** The verdict on a server, with the words of its fault. */
async function check(script: TalkerScript, given: object): Promise<string> {
  return await against(script, async ({ port }) => {
    const { verdict, fault } = await verdictOf(monitorTcp, { host: HOST, port, ...given }, setting);
    return fault === null ? verdict : `${fault.stage}/${fault.reason}: ${fault.message}`;
  });
}

/** The failure of a server that does not answer to the end, with its words. Its connection must be closed. */
async function failure(script: TalkerScript, given: object): Promise<string> {
  return await against(script, async (server) => {
    const params = { host: HOST, port: server.port, timeout_seconds: 1, ...given };
    const outcome = await endsBy(1_000, () => runMonitor(monitorTcp, params, setting));
    await until(() => server.open() === 0, "the connection is closed");
    return outcome.status === "failed" ? `${failureOf(outcome)}: ${outcome.message}` : outcome.status;
  });
}

describe("a server without a preset", () => {
  it("is up once it is connected, with the parts of the time", async () => {
    const server = await startTalker({});
    const result = await verdictOf(monitorTcp, { host: HOST, port: server.port }, setting);
    await server.close();
    expect(result).toMatchObject({ verdict: "up", fault: null, http_status: null, whole: null });
    const { redirect_ms, dns_ms, connect_ms, tls_ms, processing_ms } = result.phases ?? expect.fail("no phases");
    expect([redirect_ms, tls_ms]).toEqual([0, 0]);
    expect(dns_ms + connect_ms + processing_ms).toBeCloseTo(result.response_ms, 6);
  });

  it.each([
    ["in one piece", "status: ready\r\n", "ready"],
    ["in UTF-8", Buffer.from("größer\n").toString("latin1"), "größer"],
    ["in Latin-1", "größer\n", "größer"],
    ["over two lines", "a\r\nb\r\n", "a\r\nb"],
    ["at the end of 64 KB", `${"x".repeat(65_531)}ready`, "ready"],
  ])("is up if its answer to what is sent contains the text %s", async (_how, answer, wanted) => {
    expect(await check({ on: { hello: answer } }, { send: "hello\n", expect: wanted })).toBe("up");
  });

  it("is up if the text arrives octet by octet", async () => {
    expect(await check({ greeting: (socket) => drip(socket, "not ready, ready", 1) }, { expect: ", ready" })).toBe(
      "up",
    );
  });

  it("is sent the text as it is", async () => {
    await against({ on: { "ä\\r": "ok\n" } }, async (server) => {
      const send = "\\r\t€\r\nx\n";
      await runMonitor(monitorTcp, { host: HOST, port: server.port, send }, setting);
      await until(() => server.lines.length === 2, "both lines are there");
      expect(server.lines).toEqual([Buffer.from("\\r\t€").toString("latin1"), "x"]);
    });
  });

  it("is sent bytes in hexadecimal, and what it repeats of them is not shown", async () => {
    await against({ on: { "\u0005\u00ffabcdefg": "ok\n" } }, async (server) => {
      const given = { send_hex: "05 FF 61626364656667\n0a", expect: "ok" };
      const { verdict } = await verdictOf(monitorTcp, { host: HOST, port: server.port, ...given }, setting);
      expect(verdict).toBe("up");
      expect(server.lines).toEqual(["\u0005\u00ffabcdefg"]);
    });
    const echo: TalkerScript = {
      on: { "\u00e9\u00ffabcdefg": (socket) => socket.end("you said \u00e9\u00ffabcdefg\n", "latin1") },
    };
    expect(await failure(echo, { send_hex: "e9ff616263646566670a", expect: "ok" })).toBe(
      'response/target/closed: the server closed the connection before "ok" was found; the server said "you said ***"',
    );
  });

  it("that waits for the end of the line that was sent is said to", async () => {
    const words = await failure({ on: { PING: "PONG\n" } }, { send: "PING", expect: "PONG" });
    expect(words).toBe(
      'response/target/timeout: "PONG" was not found in time; the server said nothing; the text that was sent has no line end (\\r\\n), for which many servers wait',
    );
    expect(await failure({}, { send: "PING\r\n", expect: "PONG" })).not.toContain("line end");
  });

  it("is down if 64 KB do not contain the text", async () => {
    const endless: TalkerScript = { greeting: (socket) => writeForever(socket, "x".repeat(1_000)) };
    expect(await check(endless, { expect: "ready" })).toBe(
      'response/text_missing: the server sent 64 KB without "ready"',
    );
  });

  it.each<[string, TalkerScript, string]>([
    [
      "closes at once",
      { greeting: (socket) => socket.end() },
      'closed: the server closed the connection before "ready" was found',
    ],
    [
      "closes after something else",
      { greeting: (socket) => socket.end("hello \u0007\n") },
      'closed: the server closed the connection before "ready" was found; the server said "hello \ufffd"',
    ],
    [
      "resets the connection",
      { on: { hello: (socket) => socket.resetAndDestroy() } },
      'reset: the connection was lost before "ready" was found',
    ],
    ["says nothing", {}, 'timeout: "ready" was not found in time; the server said nothing'],
    [
      "says something else and waits",
      { greeting: "hello\n" },
      'timeout: "ready" was not found in time; the server said "hello"',
    ],
    [
      "sends an octet now and then",
      { greeting: (socket) => drip(socket, "x".repeat(100_000), 5) },
      'timeout: "ready" was not found in time; the server said "xxxx',
    ],
  ])("that %s is a failure", async (_what, script, words) => {
    expect(await failure(script, { send: "hello there\n", expect: "ready" })).toContain(`response/target/${words}`);
  });

  it("is a failure if its name or its port does not answer", async () => {
    const port = await freePort();
    const refused = await runMonitor(monitorTcp, { host: HOST, port }, setting);
    expect(failureOf(refused)).toBe("connect/target/refused");
    const absent = await runMonitor(monitorTcp, { host: "absent.example.net", port }, setting);
    expect(failureOf(absent)).toBe("dns/target/nxdomain");
  });

  it("gets no packet if the rules refuse its address", async () => {
    await against({}, async (server) => {
      const { port } = server;
      const egress = createEgress({ targets: [], names: [] });
      const named = await runMonitor(monitorTcp, { host: HOST, port }, { ...setting, egress });
      const literal = await runMonitor(monitorTcp, { host: "127.0.0.1", port }, { ...setting, egress });
      expect([named, literal]).toEqual([{ status: "refused" }, { status: "refused" }]);
      expect(server.accepted()).toBe(0);
    });
  });
});

const SMTP_ON = { EHLO: "250-mail greets you\r\n250-STARTTLS\r\n250 8BITMIME\r\n", STARTTLS: "220 go ahead\r\n" };

describe("a server that its preset knows", () => {
  it("and that closes within its greeting is quoted with what it said last", async () => {
    const words = await failure({ greeting: (socket) => socket.end("220-maintenance today\r\n") }, { preset: "ftp" });
    expect(words).toMatch(/^response\/target\/closed: .*; the server said "220-maintenance today"$/);
  });

  it.each<[string, TalkerScript, object, readonly string[]]>([
    ["smtp", { greeting: "220-mail\r\n220 ready\r\n", on: SMTP_ON }, {}, ["EHLO [127.0.0.1]", "QUIT"]],
    ["ftp", { greeting: "220-a\r\n hello\r\n220 b\r\n" }, {}, ["QUIT"]],
    ["imap", { greeting: "* OK [CAPABILITY IMAP4rev1] ready\r\n" }, {}, ["a2 LOGOUT"]],
    ["imap", { greeting: "* PREAUTH welcome\r\n" }, {}, ["a2 LOGOUT"]],
    ["ssh", { greeting: "SSH-2.0-OpenSSH_9.2p1\r\n" }, {}, ["SSH-2.0-Vantage"]],
    ["ssh", { greeting: "no entry\r\nfor strangers\r\nSSH-1.99-x\n" }, {}, ["SSH-2.0-Vantage"]],
    ["redis", { on: { PING: "+PONG\r\n" } }, {}, ["*1", "$4", "PING"]],
    ["redis", { on: { PING: "-NOAUTH Authentication required.\r\n" } }, {}, ["*1", "$4", "PING"]],
    ["redis", { on: { PING: "-NOPERM no permission\r\n" } }, {}, ["*1", "$4", "PING"]],
  ])("%s is up, and is taken leave of", async (preset, script, given, lines) => {
    await against(script, async (server) => {
      const { port } = server;
      const result = await verdictOf(monitorTcp, { host: HOST, port, preset, ...given }, setting);
      expect(result).toMatchObject({ verdict: "up", fault: null });
      await until(() => server.lines.length >= lines.length && server.open() === 0, "all is said");
      expect(server.lines).toEqual(lines);
    });
  });

  it.each<[string, TalkerScript, string]>([
    ["smtp", { greeting: "554 no service\r\n" }, '220 expected, the server said "554 no service"'],
    ["smtp", { greeting: "SSH-2.0-x\r\n" }, '220 expected, the server said "SSH-2.0-x"'],
    [
      "smtp",
      { greeting: "220 a\r\n", on: { EHLO: "502 what?\r\n" } },
      '250 to EHLO expected, the server said "502 what?"',
    ],
    ["smtp", { greeting: "220-a\r\n421 busy\r\n" }, '220 expected, the server said "421 busy"'],
    ["ftp", { greeting: "120 in 5 minutes\r\n" }, '220 expected, the server said "120 in 5 minutes"'],
    ["imap", { greeting: "* BYE overloaded\r\n" }, '* OK expected, the server said "* BYE overloaded"'],
    ["imap", { greeting: "+OK POP3\r\n" }, '* OK expected, the server said "+OK POP3"'],
    ["ssh", { greeting: "SSH-1.5-old\r\n" }, 'SSH-2.0- expected, the server said "SSH-1.5-old"'],
    ["redis", { on: { PING: "-LOADING Redis is loading\r\n" } }, '+PONG expected, the server said "-LOADING Redis is'],
    ["redis", { on: { PING: "-MASTERDOWN Link\r\n" } }, '+PONG expected, the server said "-MASTERDOWN Link"'],
    ["redis", { greeting: "-ERR max number of clients reached\r\n" }, 'said "-ERR max number of clients reached"'],
  ])("%s is down if it answers otherwise: %j", async (preset, script, words) => {
    const found = await check(script, { preset });
    expect(found).toContain("response/unexpected_answer: ");
    expect(found).toContain(words);
  });

  it("ssh is down if its identification is too long, or does not come within 50 lines", async () => {
    const long = { greeting: `SSH-2.0-${"x".repeat(246)}\r\n` };
    expect(await check(long, { preset: "ssh" })).toContain("the identification is longer than 255 bytes");
    expect(await check({ greeting: `SSH-2.0-${"x".repeat(245)}\r\n` }, { preset: "ssh" })).toBe("up");
    const lines: TalkerScript = { greeting: (socket) => writeForever(socket, "hello\r\n".repeat(1_000)) };
    expect(await check(lines, { preset: "ssh" })).toContain('within 50 lines expected, the server said "hello"');
  });

  it("is down if a line or a reply has no end", async () => {
    const line: TalkerScript = { greeting: (socket) => writeForever(socket, "2".repeat(1_000)) };
    expect(await check(line, { preset: "imap" })).toContain("the server sent 64 KB without * OK");
    const reply: TalkerScript = { greeting: (socket) => writeForever(socket, "220-more\r\n".repeat(1_000)) };
    expect(await check(reply, { preset: "smtp" })).toContain("the server sent 64 KB without 220");
  });

  it.each(["smtp", "imap", "ftp", "ssh", "redis"])(
    "%s that says nothing is a failure at the time limit",
    async (preset) => {
      expect(await failure({}, { preset })).toMatch(
        /^response\/target\/timeout: .* was not found in time; the server said nothing/,
      );
    },
  );
});

describe("TLS", () => {
  it("from the first octet is up with a trusted certificate, whose fingerprint is reported", async () => {
    await against({ greeting: "220 ready\r\n", on: SMTP_ON, tlsAfter: "", chain }, async (server) => {
      const given = { host: HOST, port: server.port, preset: "smtp", tls: "implicit" };
      const result = await verdictOf(monitorTcp, given, setting);
      expect(result).toMatchObject({ verdict: "up", fault: null });
      expect(result.certificate_fingerprint).toMatch(/^[0-9a-f]{64}$/);
      expect(result.phases?.tls_ms).toBeGreaterThan(0);
      await until(() => server.lines.length === 2, "it is taken leave of");
      expect(server.lines).toEqual(["tls: EHLO [127.0.0.1]", "tls: QUIT"]);
    });
  });

  it("is down with a certificate that is not trusted, before anything is sent under it", async () => {
    await against({ tlsAfter: "", chain: expired, on: { secret: "ready\n" } }, async (server) => {
      const given = { host: HOST, port: server.port, tls: "implicit", send: "secret\n", expect: "ready" };
      const { verdict, fault, certificate_fingerprint: print } = await verdictOf(monitorTcp, given, setting);
      expect({ verdict, ...fault }).toMatchObject({ verdict: "down", stage: "tls", reason: "expired" });
      expect(fault?.message).toMatch(/^The certificate expired on /);
      expect(print).toMatch(/^[0-9a-f]{64}$/);
      await until(() => server.open() === 0, "the connection is closed");
      expect(server.lines).toEqual([]);
    });
  });

  it("is down with a revoked certificate, after the dialogue", async () => {
    const leaf: { value?: Issued } = {};
    const responder = await startHttpServer({
      handler: (_request, response) => {
        const { value: certificate } = leaf;
        if (certificate === undefined) return false;
        const single = { certificate, issuer: pki.intermediate, status: { at: new Date(), reason: 1 } };
        response.end(ocspResponse({ signer: pki.intermediate, singles: [single] }));
        return true;
      },
    });
    leaf.value = await pki.issue({ dns: [HOST], ocspUrls: [`${responder.url}/ocsp`] });
    const script = { tlsAfter: "", chain: [leaf.value, pki.intermediate], on: { hello: "ready\n" } };
    await against(script, async (server) => {
      const given = { host: HOST, port: server.port, tls: "implicit", send: "hello\n", expect: "ready" };
      const { fault } = await verdictOf(monitorTcp, given, setting);
      expect(fault).toMatchObject({ stage: "tls", reason: "revoked" });
      expect(server.lines).toEqual(["tls: hello"]);
    });
    await responder.close();
  });

  it.each<[string, TalkerScript, readonly string[]]>([
    [
      "smtp",
      { greeting: "220 ready\r\n", on: SMTP_ON, tlsAfter: "STARTTLS" },
      ["EHLO [127.0.0.1]", "STARTTLS", "tls: EHLO [127.0.0.1]", "tls: QUIT"],
    ],
    ["ftp", { greeting: "220 a\r\n", on: { AUTH: "234 go\r\n" }, tlsAfter: "AUTH TLS" }, ["AUTH TLS", "tls: QUIT"]],
    [
      "imap",
      { greeting: "* OK a\r\n", on: { a1: "* CAPABILITY x\r\na1 OK go\r\n" }, tlsAfter: "a1" },
      ["a1 STARTTLS", "tls: a2 LOGOUT"],
    ],
  ])("is started by the command of %s, and is judged", async (preset, script, lines) => {
    await against({ ...script, chain }, async (server) => {
      const given = { host: HOST, port: server.port, preset, tls: "starttls" };
      expect(await verdictOf(monitorTcp, given, setting)).toMatchObject({ verdict: "up", fault: null });
      await until(() => server.lines.length === lines.length, "all is said");
      expect(server.lines).toEqual(lines);
    });
    expect(await check({ ...script, chain: expired }, { preset, tls: "starttls" })).toMatch(
      /^tls\/expired: The certificate expired on /,
    );
  });

  it.each<[string, TalkerScript, string]>([
    [
      "smtp",
      { greeting: "220 a\r\n", on: { EHLO: "250 8BITMIME\r\n" } },
      "tls/no_starttls: the server does not offer STARTTLS",
    ],
    [
      "smtp",
      { greeting: "220 a\r\n", on: { ...SMTP_ON, STARTTLS: "454 not now\r\n" } },
      '220 to STARTTLS expected, the server said "454 not now"',
    ],
    [
      "ftp",
      { greeting: "220 a\r\n", on: { AUTH: "530 log in\r\n" } },
      '234 to AUTH TLS expected, the server said "530 log',
    ],
    [
      "imap",
      { greeting: "* OK a\r\n", on: { a1: "a1 NO not now\r\n" } },
      'a1 OK to STARTTLS expected, the server said "a1 NO',
    ],
    ["imap", { greeting: "* PREAUTH a\r\n" }, '* OK expected, the server said "* PREAUTH a"'],
  ])("is down if the server of %s does not start it: %j", async (preset, script, words) => {
    expect(await check(script, { preset, tls: "starttls" })).toContain(words);
  });

  it.each<[string, TalkerScript]>([
    [
      "smtp",
      { greeting: "220 a\r\n", on: { ...SMTP_ON, STARTTLS: "220 go\r\n250 injected\r\n" }, tlsAfter: "STARTTLS" },
    ],
    ["ftp", { greeting: "220 a\r\n", on: { AUTH: "234 go\r\n230 injected\r\n" }, tlsAfter: "AUTH" }],
    ["imap", { greeting: "* OK a\r\n", on: { a1: "a1 OK go\r\na2 OK injected\r\n" }, tlsAfter: "a1" }],
  ])("does not begin after clear text that follows the answer to STARTTLS: %s", async (preset, script) => {
    await against({ ...script, chain }, async (server) => {
      const { fault } = await verdictOf(
        monitorTcp,
        { host: HOST, port: server.port, preset, tls: "starttls" },
        setting,
      );
      expect(fault).toMatchObject({ stage: "tls", reason: "starttls_injection" });
      expect(fault?.message).toMatch(
        /^the server sent 1\d bytes in clear text after its answer to STARTTLS, before TLS/,
      );
      await until(() => server.open() === 0, "the connection is closed");
      expect(server.lines.filter((line) => line.startsWith("tls: "))).toEqual([]);
    });
  });

  it.each<[string, TalkerScript, string]>([
    ["speaks clear text", { greeting: "220 ready\r\n" }, "tls/target/plain_text"],
    ["sends garbage", { greeting: (socket) => writeForever(socket, Buffer.alloc(1_000, 0x99)) }, "tls/target/not_tls"],
    ["sends a record without an end", { greeting: "\u0016\u0003\u0003\u0001\u0000" }, "tls/target/timeout"],
    ["closes at once", { greeting: (socket) => socket.end() }, "tls/target/closed"],
    ["says nothing", {}, "tls/target/timeout"],
  ])("with a server that %s is a failure", async (_what, script, reason) => {
    expect(await failure(script, { tls: "implicit", expect: "ready" })).toContain(reason);
  });
});
