import { createServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { TlsObservation, TlsPort, TlsRequest } from "#probe-agent/port/tls.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { createPki, type Issued } from "#test/servers/pki.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startTlsVariant, TLS_HOST, type TlsVariant } from "#test/servers/tls-variants.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const pki = await createPki();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

function port(limits: JobLimits = jobLimits()): TlsPort {
  return createTls({ clock: systemClock, random: systemRandom, egress: loopbackEgress })(limits);
}

async function inspect(
  server: { readonly port: number; close(): Promise<void> },
  request: Partial<TlsRequest> = {},
  limits?: JobLimits,
): Promise<Outcome<TlsObservation>> {
  open.push(server);
  const base = { ip: "127.0.0.1", port: server.port, servername: TLS_HOST, timeoutMs: 60_000 };
  return port(limits).inspect({ ...base, ...request });
}

async function seen(variant: TlsVariant, request?: Partial<TlsRequest>): Promise<Outcome<TlsObservation>> {
  return inspect(await startTlsVariant(variant, pki), request);
}

function observed(outcome: Outcome<TlsObservation>): TlsObservation {
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

function octets(chain: readonly (Issued | Uint8Array)[]): string[] {
  return chain.map((one) => Buffer.from(one instanceof Uint8Array ? one : one.der).toString("hex"));
}

describe("certificates", () => {
  it.each(["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const)(
    "come in the order sent, with repeats and strangers, over %s",
    async (version) => {
      const leaf = await pki.issue({ dns: [TLS_HOST] });
      const chain = [leaf, pki.root, leaf, pki.intermediate];
      const server = await startTlsServer({ chain, minVersion: version, maxVersion: version });
      const observation = observed(await inspect(server));
      expect(octets(observation.sent)).toEqual(octets(chain));
      expect(observation).toMatchObject({ protocol: version, error: null, clientCertificateRequested: false });
      await expect.poll(() => server.servernames).toEqual([TLS_HOST]);
    },
  );

  it.each(["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"])(
    "are read with %s, also after a retry for another group, and over many records",
    async (cipher) => {
      const dns = Array.from({ length: 1000 }, (_, index) => `host-${index}.example.com`);
      const chain = [await pki.issue({ dns }), pki.intermediate];
      const server = await startTlsServer({ chain, ciphers: cipher, ecdhCurve: "P-521", maxVersion: "TLSv1.3" });
      const observation = observed(await inspect(server));
      expect(observation.cipher).toBe(cipher);
      expect(octets(observation.sent)).toEqual(octets(chain));
    },
  );

  it.each(["TLSv1.2", "TLSv1.3"] as const)("come with the stapled OCSP response over %s", async (maxVersion) => {
    const observation = observed(await seen("stapled", { maxVersion }));
    expect(Buffer.from(observation.ocspStaple ?? []).toString()).toBe("not a real OCSP response");
    expect(observed(await seen("good", { maxVersion })).ocspStaple).toBeNull();
  });

  it("survive handshakes that fail after them", async () => {
    const reasons: Partial<Record<TlsVariant, string>> = {
      half_alert: "internal_error",
      half_close: "closed",
      half_reset: "reset",
      half_hanging: "timeout",
    };
    for (const [variant, reason] of Object.entries(reasons)) {
      const server = await startTlsVariant(variant as TlsVariant, pki);
      const observation = observed(await inspect(server, { timeoutMs: 1000 }));
      expect(octets(observation.sent), variant).toEqual(octets(server.chain));
      expect(observation, variant).toMatchObject({ protocol: null, handshakeMs: null, error: { reason } });
    }
  });
});

describe("client certificates", () => {
  it("are reported as requested, and as the reason if the server requires one", async () => {
    expect(observed(await seen("client_certificate"))).toMatchObject({
      protocol: "TLSv1.3",
      clientCertificateRequested: true,
      error: { reason: "certificate_required" },
    });
    expect(observed(await seen("client_certificate_tls12"))).toMatchObject({
      protocol: null,
      clientCertificateRequested: true,
      error: { reason: "handshake_failure" },
    });
    expect(observed(await seen("client_certificate_optional"))).toMatchObject({
      clientCertificateRequested: true,
      error: null,
    });
  });
});

describe("a server that requests a client certificate", () => {
  it("refuses its absence by closing the connection", async () => {
    const chain = [await pki.issue({ dns: [TLS_HOST] }), pki.intermediate];
    const asks = { chain, requestCert: true, rejectUnauthorized: false };
    const server = await startTlsServer({ ...asks, onConnection: (socket) => socket.destroy() });
    expect(observed(await inspect(server))).toMatchObject({ protocol: "TLSv1.3", error: { reason: "closed" } });
  });

  it("accepts its absence by sending data", async () => {
    const chain = [await pki.issue({ dns: [TLS_HOST] }), pki.intermediate];
    const asks = { chain, requestCert: true, rejectUnauthorized: false };
    const server = await startTlsServer({ ...asks, onConnection: (socket) => socket.end("220 ready\r\n") });
    expect(observed(await inspect(server))).toMatchObject({ clientCertificateRequested: true, error: null });
  });
});

describe("the negotiated session", () => {
  it("is reported with the application protocol", async () => {
    const observation = observed(await seen("http1_only", { alpn: ["h2", "http/1.1"] }));
    expect(observation).toMatchObject({ protocol: "TLSv1.3", alpn: "http/1.1" });
    expect(observation.connectMs).toBeGreaterThanOrEqual(0);
    expect(observation.handshakeMs).toBeGreaterThan(0);
    expect(observed(await seen("good", { alpn: ["h2"] })).alpn).toBeNull();
  });

  it("can have old versions and suites", async () => {
    expect(observed(await seen("tls10_only"))).toMatchObject({ protocol: "TLSv1", serverVersion: "TLSv1" });
    expect(observed(await seen("cbc_only"))).toMatchObject({ cipher: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256" });
  });

  it("has no SNI for an IP literal", async () => {
    const server = await startTlsServer({ chain: [await pki.issue({ ip: ["127.0.0.1"] })] });
    observed(await inspect(server, { servername: null }));
    await expect.poll(() => server.servernames).toEqual([null]);
  });
});

describe("a handshake without a certificate", () => {
  it.each([
    ["plain_text", "plain_text"],
    ["garbage", "not_tls"],
    ["closing", "closed"],
    ["reset", "reset"],
    ["alert_handshake_failure", "handshake_failure"],
    ["alert_unrecognized_name", "unrecognized_name"],
  ] as const)("from a server that is %s fails in stage tls with the reason %s", async (variant, reason) => {
    expect(await seen(variant)).toMatchObject({ status: "failed", stage: "tls", source: "target", reason });
  });

  it("fails if there is no common version", async () => {
    expect(await seen("tls13_only", { maxVersion: "TLSv1.2" })).toMatchObject({ reason: "protocol_version" });
    const outcome = await seen("tls12_only", { minVersion: "TLSv1.3" });
    expect(outcome).toMatchObject({ status: "failed", stage: "tls", source: "target" });
  });

  it("fails if the server selects a version that was not offered", async () => {
    expect(observed(await seen("tls10_only", { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" }))).toMatchObject({
      protocol: null,
      serverVersion: "TLSv1",
      error: { reason: "unsupported_protocol" },
    });
  });

  it("times out at the requested limit or the job's deadline if the server never answers", async () => {
    const timeout = { status: "failed", stage: "tls", source: "target", reason: "timeout" };
    expect(await seen("hanging", { timeoutMs: 300 })).toMatchObject(timeout);
    const server = await startTlsVariant("hanging", pki);
    expect(await inspect(server, { timeoutMs: 60_000 }, jobLimits(300))).toMatchObject(timeout);
  });

  it("fails if the caller cancels", async () => {
    const controller = new AbortController();
    const server = await startTlsVariant("hanging", pki);
    setTimeout(() => controller.abort(), 100);
    const outcome = await inspect(server, {}, jobLimits(60_000, controller.signal));
    expect(outcome).toMatchObject({ status: "failed", source: "probe", reason: "cancelled" });
  });

  it("fails if the server never stops sending", async () => {
    const server = await startWireServer((socket) => {
      const record = Buffer.concat([Buffer.from([22, 3, 3, 0x40, 0]), Buffer.alloc(16_384, 1)]);
      socket.on("drain", () => socket.write(record));
      socket.write(record);
    });
    expect(await inspect(server)).toMatchObject({ status: "failed", stage: "tls", source: "target" });
  });
});

describe("a connection", () => {
  it("that is refused fails in stage connect", async () => {
    const listener = createServer();
    await new Promise<void>((resolve) => {
      listener.listen(0, "127.0.0.1", resolve);
    });
    const { port: closed } = listener.address() as AddressInfo;
    await new Promise((resolve) => {
      listener.close(resolve);
    });
    const outcome = await port().inspect({ ip: "127.0.0.1", port: closed, servername: null });
    expect(outcome).toMatchObject({ status: "failed", stage: "connect", source: "target", reason: "refused" });
  });

  it("is never made to a forbidden address", async () => {
    const server = await startWireServer(() => undefined);
    open.push(server);
    const strict = createTls({ clock: systemClock, random: systemRandom, egress: createEgress(NO_ALLOW_LISTS) })(
      jobLimits(),
    );
    const outcome = await strict.inspect({ ip: "127.0.0.1", port: server.port, servername: null });
    expect(outcome).toEqual({ status: "refused" });
    expect(server.accepted()).toBe(0);
  });

  it("is not made once the job has ended", async () => {
    const outcome = await port(jobLimits(0)).inspect({ ip: "127.0.0.1", port: 9, servername: null });
    expect(outcome).toMatchObject({ status: "failed", stage: "connect", reason: "timeout" });
  });
});

describe("roots", () => {
  it("are Node's or those given, in one array for all jobs", () => {
    const own = createTls({ clock: systemClock, random: systemRandom, egress: loopbackEgress });
    expect(own(jobLimits()).roots().length).toBeGreaterThan(100);
    const create = createTls({
      clock: systemClock,
      random: systemRandom,
      egress: loopbackEgress,
      roots: [pki.root.pem],
    });
    const roots = create(jobLimits()).roots();
    expect(roots.map((root) => Buffer.from(root).toString("hex"))).toEqual([Buffer.from(pki.root.der).toString("hex")]);
    expect(create(jobLimits()).roots()).toBe(roots);
  });
});
