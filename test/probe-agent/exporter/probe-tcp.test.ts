import { describe, expect, it } from "vitest";
import { compileExpression, type Expression } from "#shared/blackbox/expression.ts";
import type { QueryResponse, TcpOptions } from "#shared/blackbox/module.ts";
import { probeTcp } from "#probe-agent/exporter/probe-tcp.ts";
import { createPki } from "#test/servers/pki.ts";
import { startTalker, type TalkerScript } from "#test/servers/talker.ts";
import { startWireServer, writeForever } from "#test/servers/wire.ts";
import { NO_TLS } from "#test/probe-agent/exporter/recorded-probe.ts";
import { named, runProber } from "#test/probe-agent/exporter/run-prober.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

const keep = closeAfterEach();
const pki = await createPki();
const leaf = await pki.issue({ dns: ["localhost"] });
const OPTIONS: TcpOptions = {
  preferred_ip_protocol: "ip4",
  ip_protocol_fallback: true,
  source_ip_address: null,
  query_response: [],
  tls: false,
  tls_config: { ...NO_TLS, ca: { text: pki.root.pem } },
};

/** A step of a dialogue in short. */
type Step = Partial<Omit<QueryResponse, "expect">> & { readonly expect?: string };

function expression(source: string): Expression {
  const compiled = compileExpression(source);
  if ("fault" in compiled) throw new Error(compiled.fault);
  return compiled;
}

const dialogue = (steps: readonly Step[]): QueryResponse[] =>
  steps.map(({ expect: source, ...rest }) => ({
    labels: [],
    send: "",
    starttls: false,
    ...rest,
    expect: source === undefined ? null : expression(source),
  }));

const probe = (target: string, options: Partial<TcpOptions> = {}, context: Parameters<typeof runProber>[3] = {}) =>
  runProber(probeTcp, target, { ...OPTIONS, ...options }, context);

const talk = async (script: TalkerScript) => keep(await startTalker(script));
const say = async (octets: string | Buffer) =>
  keep(await startWireServer((socket) => socket.end(octets), { atOnce: true }));

/** The verdict of a dialogue, and whether an expression is to blame. */
async function outcome(port: number, steps: readonly Step[], timeoutMs = 600_000): Promise<string> {
  const probed = await probe(`127.0.0.1:${port}`, { query_response: dialogue(steps) }, { timeoutMs });
  return `${probed.verdict}, ${String(named(probed, "probe_failed_due_to_regex")[0])}`;
}

const SUCCESS = "success, probe_failed_due_to_regex 0";
const FAILURE = "failure, probe_failed_due_to_regex 0";
const BY_REGEX = "failure, probe_failed_due_to_regex 1";

describe("a connection", () => {
  it("is a success, with the metrics of the exporter and no others", async () => {
    const { port } = await talk({});
    const { verdict, text, lines } = await probe(`127.0.0.1:${port}`);
    expect(verdict).toBe("success");
    expect(text).toContain(
      "# HELP probe_failed_due_to_regex Indicates if probe failed due to regex\n# TYPE probe_failed_due_to_regex gauge\n",
    );
    expect(lines.map((line) => line.split(" ")[0])).toEqual([
      "probe_dns_lookup_time_seconds",
      "probe_failed_due_to_regex",
      "probe_ip_addr_hash",
      "probe_ip_protocol",
    ]);
  });

  it("begins at the module's source address", async () => {
    const from: (string | undefined)[] = [];
    const server = keep(await startWireServer((socket) => void from.push(socket.remoteAddress), { atOnce: true }));
    expect((await probe(`127.0.0.1:${server.port}`, { source_ip_address: "127.0.0.9" })).verdict).toBe("success");
    await until(() => from.length === 1, "the server accepts");
    expect(from).toEqual(["127.0.0.9"]);
    expect((await probe(`127.0.0.1:${server.port}`, { source_ip_address: "127.0.0.999" })).verdict).toBe("failure");
  });

  it.each([
    ["without a port", "127.0.0.1", 1],
    ["without brackets around IPv6", "::1:80", 1],
    ["with a name for a port", "127.0.0.1:nothing", 4],
    ["with a port that is too large", "127.0.0.1:99999", 4],
    ["without a host", ":80", 4],
  ])("to a target %s is a failure, with the metrics of the exporter", async (_which, target, count) => {
    const { verdict, lines } = await probe(target);
    expect(verdict).toBe("failure");
    expect(lines).toHaveLength(count);
  });

  it("that is refused is a failure", async () => {
    const { verdict, log } = await probe(`127.0.0.1:${await freePort()}`);
    expect(verdict).toBe("failure");
    expect(log.at(-1)).toContain("ECONNREFUSED");
  });

  it("that is not allowed is refused, and the target does not see it", async () => {
    const server = await talk({});
    expect((await probe(`127.0.0.1:${server.port}`, {}, { allows: () => false })).verdict).toBe("refused");
    expect(server.accepted()).toBe(0);
  });

  it("is closed at the end", async () => {
    const server = await talk({ greeting: "220 hi\r\n" });
    expect(await outcome(server.port, [{ expect: "^220" }])).toBe(SUCCESS);
    await until(() => server.open() === 0, "the connection is closed");
  });
});

describe("a dialogue", () => {
  it("sends what an expression's groups matched, and a text without one as it is", async () => {
    const server = await talk({
      greeting: "220 mail ready\r\n",
      on: { EHLO: "250-mail\r\n250 OK\r\n", NOOP: "250 noop\r\n" },
    });
    const steps = [
      { expect: "^220 (?P<who>\\w+)", send: "EHLO ${who} $$ $2x" },
      { expect: "^250 OK$" },
      { send: "NOOP $1 $$" },
      { expect: "noop" },
    ];
    expect(await outcome(server.port, steps)).toBe(SUCCESS);
    expect(server.lines).toEqual(["EHLO mail $ ", "NOOP $1 $$"]);
  });

  it.each([
    ["a line that comes later", "1\n2\n3\n", ["^2$", "^3$"], SUCCESS],
    ["a line that was passed", "1\n2\n", ["^2$", "^1$"], BY_REGEX],
    ["a line with a carriage return", "one\r\ntwo\r\n", ["^one$"], SUCCESS],
    ["the last line without its end", "one\r\ntwo", ["^two$"], SUCCESS],
    ["the last line with a lone carriage return", "two\r", ["^two$"], SUCCESS],
    ["an empty line", "a\n\nb\n", ["^$"], SUCCESS],
    ["text of UTF-8", "gr\u00fc\u00df\n", ["^gr..$"], SUCCESS],
    ["what the server never says", "1\n", ["^2$"], BY_REGEX],
    ["nothing of a server that says nothing", "", ["^"], BY_REGEX],
    ["what comes after the end", "1\n", ["^1$", "^2$"], BY_REGEX],
    ["a line of 65,535 octets", `${"x".repeat(65_535)}\n220\n`, ["^220"], SUCCESS],
    ["a line after one of 65,536 octets", `${"x".repeat(65_536)}\n220\n`, ["^220"], FAILURE],
  ])("expects %s", async (_what, said, expected, wanted) => {
    const { port } = await say(Buffer.from(said));
    const steps = expected.map((source) => ({ expect: source }));
    expect(await outcome(port, steps)).toBe(wanted);
  });

  it("that waits at the deadline fails, but not by the expression", async () => {
    const { port } = await talk({ greeting: "220 hi\r\n" });
    expect(await outcome(port, [{ expect: "^220" }, { expect: "^250" }], 300)).toBe(FAILURE);
  });

  it("fails by the connection where the server resets it", async () => {
    const server = keep(await startWireServer((socket) => socket.resetAndDestroy()));
    expect(await outcome(server.port, [{ send: "hello" }, { expect: "^250" }])).toBe(FAILURE);
  });

  it("with a server that never stops ends before the deadline", async () => {
    const server = keep(
      await startWireServer((socket) => writeForever(socket, "abc\n".repeat(1000)), { atOnce: true }),
    );
    const probed = await probe(`127.0.0.1:${server.port}`, { query_response: dialogue([{ expect: "^xyz" }]) });
    expect(probed.verdict).toBe("failure");
    expect(probed.log.at(-1)).toContain("too much");
    expect(probed.log.length).toBeLessThan(1100);
  });

  it("can send a line after the server has closed its side", async () => {
    const server = await talk({ greeting: (socket) => void socket.end("bye") });
    expect(await outcome(server.port, [{ expect: "^bye$" }, { send: "thanks" }])).toBe(SUCCESS);
  });

  it("has labels of what was matched, in the order of their names", async () => {
    const { port } = await say('SSH-2.0-OpenSSH_9.2 "x"\r\n');
    const labels = [
      { name: "version", value: "${2}" },
      { name: "product", value: "$1 $3" },
    ];
    const probed = await probe(`127.0.0.1:${port}`, {
      query_response: dialogue([{ expect: "^SSH-2.0-([^_]+)_(\\S+) (.*)", labels }]),
    });
    expect(probed.text).toContain(
      String.raw`# HELP probe_expect_info Explicit content matched
# TYPE probe_expect_info gauge
probe_expect_info{product="OpenSSH \"x\"",version="9.2"} 1
`,
    );
  });
});

describe("TLS", () => {
  const script = { chain: [leaf, pki.intermediate], tlsAfter: "STARTTLS" };

  it("begins in a dialogue after what an entry sends, and the dialogue goes on under it", async () => {
    const server = await talk({
      ...script,
      greeting: "220 hi\r\n",
      on: { STARTTLS: "220 go\r\n", EHLO: "250 secure\r\n" },
    });
    const probed = await probe(`localhost:${server.port}`, {
      query_response: dialogue([
        { expect: "^220", send: "STARTTLS" },
        { expect: "^220", starttls: true },
        { send: "EHLO me" },
        { expect: "^250 secure$" },
      ]),
    });
    expect(probed.verdict).toBe("success");
    expect(server.lines).toEqual(["STARTTLS", "tls: EHLO me"]);
    expect(named(probed, "probe_tls_version_info")).toEqual(['probe_tls_version_info{version="TLS 1.3"} 1']);
    expect(named(probed, "probe_ssl_")).toHaveLength(3);
  });

  it("in a dialogue fails without its metrics if the server is not trusted", async () => {
    const server = await talk({ ...script, greeting: "220 hi\r\n", on: { STARTTLS: "220 go\r\n" } });
    const probed = await probe(`127.0.0.1:${server.port}`, {
      query_response: dialogue([
        { expect: "^220", send: "STARTTLS" },
        { expect: "^220", starttls: true },
      ]),
    });
    expect(probed.verdict).toBe("failure");
    expect(probed.log.at(-1)).toContain("TLS Handshake (client) failed");
    expect(named(probed, "probe_ssl_", "probe_tls_")).toEqual([]);
    await until(() => server.open() === 0, "the connection is closed");
  });

  it("does not see lines that came in the clear before it", async () => {
    const server = await talk({
      ...script,
      greeting: "220 hi\r\n",
      on: { STARTTLS: "220 go\r\n250 injected\r\n", EHLO: (socket) => void socket.end("250 secure\r\n") },
    });
    const probed = await probe(`localhost:${server.port}`, {
      query_response: dialogue([
        { expect: "^220", send: "STARTTLS" },
        { expect: "^220", starttls: true },
        { send: "EHLO me" },
        { expect: "injected" },
      ]),
    });
    expect(probed.verdict).toBe("failure");
  });

  it("from the first octet comes before the dialogue, of which a failure keeps the metrics of TLS", async () => {
    const server = await talk({ ...script, tlsAfter: "", greeting: "220 hi\r\n" });
    const good = await probe(`localhost:${server.port}`, { tls: true, query_response: dialogue([{ expect: "^220" }]) });
    expect(good.verdict).toBe("success");
    await until(() => server.open() === 0, "the connection is closed");
    const never = await probe(
      `localhost:${server.port}`,
      { tls: true, query_response: dialogue([{ expect: "^221" }]) },
      { timeoutMs: 500 },
    );
    expect(never.verdict).toBe("failure");
    expect(named(never, "probe_ssl_", "probe_tls_")).toHaveLength(4);
  });
});
