import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TcpOptions, TlsOptions } from "#shared/blackbox/module.ts";
import { probeTcp } from "#probe-agent/exporter/probe-tcp.ts";
import { createPki, DAY_MS, daysFromNow, issue, type Issued } from "#test/servers/pki.ts";
import { CLIENT_AUTH } from "#test/servers/pki-extensions.ts";
import { startTlsServer, type TlsServerOptions } from "#test/servers/tls.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { NO_TLS } from "#test/probe-agent/exporter/recorded-probe.ts";
import { named, runProber } from "#test/probe-agent/exporter/run-prober.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";
import { until } from "#test/support/until.ts";

const keep = closeAfterEach();
const pki = await createPki();
const leaf = await pki.issue({ dns: ["localhost", "b.test"], ip: ["127.0.0.1"], notAfter: daysFromNow(60) });
const chain = [leaf, pki.intermediate];
const trusting = { ca: { text: pki.root.pem } };

const serve = async (options: Partial<TlsServerOptions> = {}) => keep(await startTlsServer({ chain, ...options }));

/** Connects with these options of TLS. */
const connect = (target: string, given: Partial<TlsOptions>, context: Parameters<typeof runProber>[3] = {}) => {
  const options: TcpOptions = {
    preferred_ip_protocol: "ip4",
    ip_protocol_fallback: true,
    source_ip_address: null,
    query_response: [],
    tls: true,
    tls_config: { ...NO_TLS, ...given },
  };
  return runProber(probeTcp, target, options, context);
};

/** "success", or the fault that the log names. */
async function ending(...given: Parameters<typeof connect>): Promise<string> {
  const { verdict, log } = await connect(...given);
  return verdict === "success" ? verdict : (log.at(-1) ?? "");
}

/** Returns the two expiries in days from now. */
function expiries(probed: Awaited<ReturnType<typeof connect>>): readonly number[] {
  const values = named(probed, "probe_ssl_earliest", "probe_ssl_last_chain_expiry").map((line) => line.split(" ")[1]);
  return values.map((value) => Math.round((Number(value) * 1000 - daysFromNow(0).getTime()) / DAY_MS));
}

describe("the metrics of a verified server", () => {
  it("have the exporter's names, helps and labels", async () => {
    const { port } = await serve();
    const { verdict, text } = await connect(`localhost:${port}`, trusting);
    expect(verdict).toBe("success");
    const digest = createHash("sha256").update(leaf.der).digest("hex");
    expect(text).toContain(
      `# HELP probe_ssl_last_chain_info Contains SSL leaf certificate information
# TYPE probe_ssl_last_chain_info gauge
probe_ssl_last_chain_info{fingerprint_sha256="${digest}",issuer="CN=Test Intermediate",subject="CN=localhost",subjectalternative="localhost,b.test"} 1
# HELP probe_tls_version_info Returns the TLS version used or NaN when unknown
# TYPE probe_tls_version_info gauge
probe_tls_version_info{version="TLS 1.3"} 1
`,
    );
    expect(text).toContain("# HELP probe_ssl_earliest_cert_expiry Returns last SSL chain expiry in unixtime\n");
    expect(text).toContain(
      "# HELP probe_ssl_last_chain_expiry_timestamp_seconds Returns last SSL chain expiry in timestamp\n",
    );
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)("have the expiry of an unneeded certificate with %s", async (version) => {
    const old = await issue({ subject: "old", ca: true, notBefore: daysFromNow(-9), notAfter: daysFromNow(-2) });
    const { port } = await serve({ chain: [...chain, old], maxVersion: version });
    const found = expiries(await connect(`localhost:${port}`, trusting));
    expect(found).toEqual([-2, 60]);
  });

  it("have the end of the chain that lasts longest where there are several", async () => {
    const other = await issue({ subject: "Other Root", ca: true, notAfter: daysFromNow(30) });
    const crossed = await issue({
      subject: "Test Intermediate",
      issuer: other,
      ca: true,
      key: pki.intermediate.keys,
      notAfter: daysFromNow(20),
    });
    const { port } = await serve({ chain: [leaf, crossed, pki.intermediate] });
    const both = { ca: { text: `${other.pem}text between them\n${pki.root.pem}` } };
    expect(expiries(await connect(`localhost:${port}`, both))).toEqual([20, 60]);
    const one = { ca: { text: other.pem } };
    expect(expiries(await connect(`localhost:${port}`, one))).toEqual([20, 20]);
  });

  it("have Go's zero time as the end of the chain if nothing was verified", async () => {
    const expired = await pki.issue({ dns: ["localhost"], notAfter: daysFromNow(-1), notBefore: daysFromNow(-3) });
    const { port } = await serve({ chain: [expired] });
    const probed = await connect(`localhost:${port}`, { insecure_skip_verify: true });
    expect(probed.verdict).toBe("success");
    expect(named(probed, "probe_ssl_last_chain_expiry")).toEqual([
      "probe_ssl_last_chain_expiry_timestamp_seconds -6.21355968e+10",
    ]);
  });
});

describe("a server is trusted", () => {
  it.each([
    ["by its root", [pki.root]],
    ["by its intermediate authority alone", [pki.intermediate]],
    ["by its own certificate", [leaf]],
  ])("%s", async (_how, trusted: readonly Issued[]) => {
    const { port } = await serve();
    expect(await ending(`localhost:${port}`, { ca: { text: trusted.map(({ pem }) => pem).join("") } })).toBe("success");
  });

  it("by the process's roots where the module names none, and by no others", async () => {
    const { port } = await serve();
    expect(await ending(`localhost:${port}`, {}, { roots: [pki.root.pem] })).toBe("success");
    expect(await ending(`localhost:${port}`, {})).toMatch(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED/);
    const other = await issue({ subject: "Other Root", ca: true });
    expect(await ending(`localhost:${port}`, { ca: { text: other.pem } }, { roots: [pki.root.pem] })).not.toBe(
      "success",
    );
  });

  it("by a second chain where an unknown authority has signed its intermediate too", async () => {
    const other = await issue({ subject: "Other Root", ca: true });
    const crossed = await issue({
      subject: "Test Intermediate",
      issuer: other,
      ca: true,
      key: pki.intermediate.keys,
    });
    const { port } = await serve({ chain: [leaf, crossed, pki.intermediate] });
    expect(await ending(`localhost:${port}`, trusting)).toBe("success");
    const alone = await serve({ chain: [leaf, crossed] });
    expect(await ending(`localhost:${alone.port}`, trusting)).toContain("x509: ");
  });

  it("not without the use for servers", async () => {
    const client = await pki.issue({ dns: ["localhost"], eku: [CLIENT_AUTH] });
    const { port } = await serve({ chain: [client, pki.intermediate] });
    expect(await ending(`localhost:${port}`, trusting)).toContain("INVALID_PURPOSE");
  });

  it("not with a signature of SHA-1", async () => {
    const weak = await pki.issue({ dns: ["localhost"], hash: "SHA-1" });
    const { port } = await serve({ chain: [weak, pki.intermediate] });
    expect(await ending(`localhost:${port}`, trusting)).toContain("x509: certificate signed by unknown authority");
  });

  it("not after its certificate's end", async () => {
    const expired = await pki.issue({ dns: ["localhost"], notAfter: daysFromNow(-1), notBefore: daysFromNow(-3) });
    const { port } = await serve({ chain: [expired, pki.intermediate] });
    expect(await ending(`localhost:${port}`, trusting)).toContain("CERT_HAS_EXPIRED");
  });
});

describe("the name", () => {
  it.each([
    ["of the target", "localhost", {}, { dns: ["localhost"] }, true],
    ["of the target in other letters", "LOCALHOST", {}, { dns: ["localhost"] }, true],
    ["of an address", "127.0.0.1", {}, { dns: ["a.test"], ip: ["127.0.0.1"] }, true],
    ["of an address that is no iPAddress", "127.0.0.1", {}, { dns: ["127.0.0.1"] }, false],
    ["that is a common name alone", "localhost", {}, { subject: "localhost", ip: ["192.0.2.1"] }, false],
    ["of the module in place of the target's", "127.0.0.1", { server_name: "b.test" }, { dns: ["b.test"] }, true],
    ["below a wildcard", "127.0.0.1", { server_name: "x.b.test" }, { dns: ["*.b.test"] }, true],
    ["below a wildcard for a top-level domain", "127.0.0.1", { server_name: "b.test" }, { dns: ["*.test"] }, true],
    ["two labels below a wildcard", "127.0.0.1", { server_name: "y.x.b.test" }, { dns: ["*.b.test"] }, false],
    ["that a wildcard is below", "127.0.0.1", { server_name: "b.test" }, { dns: ["*.b.test"] }, false],
  ])("%s is verified as in Go", async (_which, host, given, names, isGood) => {
    const certificate = await pki.issue(names);
    const { port } = await serve({ chain: [certificate, pki.intermediate] });
    const found = await ending(`${host}:${port}`, { ...trusting, ...given });
    if (isGood) expect(found).toBe("success");
    else expect(found).toContain("x509: certificate is not valid for");
  });

  it("is sent as SNI unless it is an address", async () => {
    const server = await serve();
    await connect(`127.0.0.1:${server.port}`, trusting);
    await connect(`127.0.0.1:${server.port}`, { ...trusting, server_name: "b.test" });
    await connect(`localhost:${server.port}`, trusting);
    await until(() => server.servernames.length === 3, "the server has seen all handshakes");
    expect(server.servernames).toEqual([null, "b.test", "localhost"]);
  });
});

describe("the versions", () => {
  it.each([
    ["TLSv1.1", {}, null],
    ["TLSv1.1", { min_version: "TLS10" }, "TLS 1.1"],
    ["TLSv1", { min_version: "TLS10" }, "TLS 1.0"],
    ["TLSv1.2", {}, "TLS 1.2"],
    ["TLSv1.2", { min_version: "TLS13" }, null],
    ["TLSv1.3", { max_version: "TLS12" }, "TLS 1.2"],
  ] as const)("a server of %s and a module with %j", async (maxVersion, given, shown) => {
    const { port } = await serve({ minVersion: "TLSv1", maxVersion });
    const probed = await connect(`localhost:${port}`, { ...trusting, ...given });
    expect(named(probed, "probe_tls_version_info")).toEqual(
      shown === null ? [] : [`probe_tls_version_info{version="${shown}"} 1`],
    );
    expect(probed.verdict).toBe(shown === null ? "failure" : "success");
  });
});

describe("the client's certificate", () => {
  it("is presented with its key, and files are read again at each probe", async () => {
    const client = await pki.issue({ subject: "client", eku: [CLIENT_AUTH] });
    const mutual = { requestCert: true, rejectUnauthorized: true, ca: pki.root.pem, maxVersion: "TLSv1.2" } as const;
    const { port } = await serve(mutual);
    const folder = mkdtempSync(join(tmpdir(), "exporter-tls-"));
    try {
      const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
      const files = { ...trusting, cert: { file: certFile }, key: { file: keyFile } };
      expect(await ending(`localhost:${port}`, trusting)).not.toBe("success");
      expect(await ending(`localhost:${port}`, files)).toContain(`unable to read file ${certFile}: ENOENT`);
      writeFileSync(certFile, client.pem + pki.intermediate.pem);
      writeFileSync(keyFile, client.keyPem);
      expect(await ending(`localhost:${port}`, files)).toBe("success");
      writeFileSync(keyFile, leaf.keyPem);
      expect(await ending(`localhost:${port}`, files)).toContain("unable to use the certificates or the key");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ["a certificate without its key", { cert: { text: leaf.pem } }, "must be given together"],
    ["no certificate of an authority", { ca: { text: "none" } }, "has no certificate in PEM"],
    [
      "an authority's file that does not exist",
      { ca: { file: "/nonexistent/ca.pem" } },
      "unable to read file /nonexistent/ca.pem: ENOENT",
    ],
  ])("%s is a fault", async (_what, given, words) => {
    const { port } = await serve();
    expect(await ending(`localhost:${port}`, given)).toContain(words);
  });
});

describe("a handshake without an end", () => {
  it("ends with the probe", async () => {
    const server = keep(await startWireServer(() => undefined));
    expect(await ending(`127.0.0.1:${server.port}`, trusting, { timeoutMs: 300 })).toContain("i/o timeout");
  });

  it("ends if the server does not speak TLS or goes away", async () => {
    const plain = keep(await startWireServer("220 hello\r\n"));
    expect(await ending(`127.0.0.1:${plain.port}`, trusting)).toContain("Error dialing TCP");
    const gone = keep(await startWireServer(""));
    expect(await ending(`127.0.0.1:${gone.port}`, trusting)).toContain("Error dialing TCP");
  });
});
