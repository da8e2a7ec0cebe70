import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import { createFrameReader } from "#probe-agent/net/dns/ask.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { garbage } from "#test/servers/dns-zones.ts";
import { dnsPort, jobLimits } from "#test/support/net.ts";
import { endsBy } from "#test/support/deadlines.ts";

/** A deadline that no test waits for: a question that does not end before it hangs. */
const HOUR_MS = 3_600_000;
const ZONES = { "example.test": { A: ["192.0.2.1"] } };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(options: DnsServerOptions = {}): Promise<{ server: DnsServer; dns: DnsPort }> {
  const server = await startDnsServer({ zones: ZONES, ...options });
  open.push(server);
  return { server, dns: dnsPort([server.address]) };
}

const A = { name: "example.test", type: "A" };
const withAll = (behaviour: NonNullable<DnsServerOptions["behaviours"]>[string]) => ({
  behaviours: { "*": behaviour },
});

describe("no server answers", () => {
  it("is TIMEOUT with null rtt, within the question's time", async () => {
    const { dns, server } = await start(withAll({ drop: true }));
    const answer = await endsBy(300, () => dns.query({ ...A, timeoutMs: 300 }));
    expect(answer).toMatchObject({ status: "TIMEOUT", rttMs: null, answers: [], server: `127.0.0.1#${server.port}` });
  });

  it("says why the server could not be reached", async () => {
    const gone = await startDnsServer();
    await gone.close();
    for (const transport of ["udp", "tcp"] as const) {
      const answer = await dnsPort([gone.address]).query({
        name: "example.test",
        type: "A",
        transport,
        timeoutMs: 300,
      });
      expect(answer).toMatchObject({ status: "TIMEOUT", unreachable: "refused" });
    }
  });

  it("is TIMEOUT if every answer had the wrong letter case", async () => {
    const sent: Uint8Array[] = [];
    const rewrite = (reply: Uint8Array): Uint8Array | null => (sent.push(reply) === 1 ? reply : null);
    const { dns, server } = await start(withAll({ lowerCase: true, rewrite }));
    const name = "a-long-name-whose-case-hardly-ever-stays-low.example.test";
    expect((await dns.query({ name, type: "A", timeoutMs: 900 })).status).toBe("TIMEOUT");
    expect(server.queries).toHaveLength(2);
  });

  it("ends with the job's deadline and with its signal", async () => {
    const { server } = await start(withAll({ drop: true }));
    const short = dnsPort([server.address], { limits: jobLimits(200) });
    expect((await short.query({ ...A, timeoutMs: 20_000 })).status).toBe("TIMEOUT");
    const stop = new AbortController();
    const cancelled = dnsPort([server.address], { limits: jobLimits(20_000, stop.signal) });
    setTimeout(() => stop.abort(), 100);
    expect((await cancelled.query({ ...A, timeoutMs: 20_000 })).status).toBe("TIMEOUT");
    expect((await cancelled.query(A)).status).toBe("TIMEOUT");
  });

  it("is known immediately if the port is closed", async () => {
    const { server } = await start();
    await server.close();
    open.splice(0);
    const dns = dnsPort([server.address], { limits: jobLimits(HOUR_MS) });
    expect((await dns.query({ ...A, timeoutMs: HOUR_MS })).status).toBe("TIMEOUT");
    expect((await dns.query({ ...A, timeoutMs: HOUR_MS, transport: "tcp" })).status).toBe("TIMEOUT");
  });
});

describe("several servers", () => {
  it("are asked in turn after silence, refusal, failure and nonsense", async () => {
    const { server: good } = await start();
    for (const behaviour of [
      { drop: true } as const,
      { status: "REFUSED" },
      { status: "SERVFAIL" },
      { rewrite: garbage },
    ]) {
      const { server: bad } = await start(withAll(behaviour));
      const answer = await dnsPort([bad.address, good.address]).query(A);
      expect(answer).toMatchObject({ status: "NOERROR", server: `127.0.0.1#${good.port}` });
    }
  });

  it("keep the first server's failure if no other gives a better answer", async () => {
    const { server: one } = await start(withAll({ status: "SERVFAIL", ede: [{ code: 9, text: "bogus" }] }));
    const { server: other } = await start(withAll({ status: "REFUSED" }));
    const answer = await dnsPort([one.address, other.address]).query(A);
    expect(answer).toMatchObject({ status: "SERVFAIL", ede: [{ code: 9 }], server: `127.0.0.1#${one.port}` });
    expect(one.queries).toHaveLength(1);
  });

  it("do not override a SERVFAIL to a DNSSEC question, because it may be the verdict", async () => {
    const { server: validating } = await start(withAll({ status: "SERVFAIL" }));
    const { server: blind } = await start();
    const answer = await dnsPort([validating.address, blind.address]).query({ ...A, dnssecOk: true });
    expect(answer.status).toBe("SERVFAIL");
    expect(blind.queries).toHaveLength(0);
  });

  it("are not asked if the question names its server", async () => {
    const { server: one } = await start();
    const { server: other } = await start();
    await dnsPort([one.address]).query({ ...A, server: other.address });
    expect([one.queries.length, other.queries.length]).toEqual([0, 1]);
  });
});

describe("a query over TCP", () => {
  it("uses only TCP", async () => {
    const { server, dns } = await start();
    expect(await dns.query({ ...A, transport: "tcp" })).toMatchObject({ status: "NOERROR", transport: "tcp" });
    expect(server.queries.map((query) => query.transport)).toEqual(["tcp"]);
  });

  it("reads answers that arrive in small pieces, after empty and foreign messages", () => {
    const frames: string[] = [];
    const read = createFrameReader((bytes) => frames.push(Buffer.from(bytes).toString()));
    const stream = Buffer.from("\0\0\0\x03one\0\0\0\0\0\x05three\0\x01");
    for (const octet of stream) read(Uint8Array.of(octet));
    read(stream.subarray(2));
    expect(frames).toEqual(["one", "three", "\0"]);
  });

  it("gives up on a server that sends other messages endlessly", async () => {
    const frame = Buffer.concat([Buffer.of(0, 12), Buffer.alloc(12)]);
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      setInterval(() => socket.write(frame), 2).unref();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const dns = dnsPort([`127.0.0.1:${(server.address() as AddressInfo).port}`], { limits: jobLimits(HOUR_MS) });
    expect((await dns.query({ ...A, transport: "tcp", timeoutMs: HOUR_MS })).status).toBe("TIMEOUT");
    server.close();
  });

  it("survives servers that close, stall, flood or drip", async () => {
    const habits: ((socket: Socket) => void)[] = [
      (socket) => socket.end(),
      () => undefined,
      (socket) => socket.write(Buffer.alloc(200_000)),
      (socket) => socket.write(Buffer.of(0xff, 0xff, 1)),
      (socket) => setInterval(() => socket.write(Buffer.of(0)), 5).unref(),
    ];
    for (const habit of habits) {
      const server = createServer((socket) => {
        socket.on("error", () => socket.destroy());
        habit(socket);
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const dns = dnsPort([`127.0.0.1:${port}`]);
      expect((await dns.query({ ...A, transport: "tcp", timeoutMs: 300 })).status).toBe("TIMEOUT");
      server.close();
    }
  });
});

describe("questions that cannot be sent", () => {
  it.each(["a..test", `${"x".repeat(64)}.test`, `${"abcdefg.".repeat(33)}test`, "", "ä.test", "a b.test"])(
    "is INVALID_NAME: %j",
    async (name) => {
      const { server, dns } = await start();
      expect(await dns.query({ name, type: "A" })).toMatchObject({ status: "INVALID_NAME", rttMs: null });
      expect(server.queries).toHaveLength(0);
    },
  );

  it("throws if the type does not exist", async () => {
    const { dns } = await start();
    await expect(dns.query({ name: "example.test", type: "BOGUS" })).rejects.toThrow(TypeError);
  });
});

it("leaves no socket open", async () => {
  const { dns } = await start(withAll({ before: ["wrong_id"], truncate: true, drop: 1 }));
  const sockets = (): number =>
    process.getActiveResourcesInfo().filter((kind) => /UDP|TCPSocketWrap/.test(kind)).length;
  const before = sockets();
  await Promise.all(Array.from({ length: 20 }, () => dns.query(A)));
  await expect.poll(sockets).toBeLessThanOrEqual(before);
});
