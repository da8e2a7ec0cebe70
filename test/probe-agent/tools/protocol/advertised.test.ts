import { afterEach, describe, expect, it } from "vitest";
import type { DnsServerOptions } from "#test/servers/dns.ts";
import { startQuicServer } from "#test/servers/quic.ts";
import { freePort } from "#test/support/free-port.ts";
import { createProtocolBench } from "#test/support/protocol.ts";

const bench = await createProtocolBench();
afterEach(() => bench.release());

describe("HTTP/3", () => {
  it("is reported from Alt-Svc and from the QUIC server at its port", async () => {
    const quic = bench.keep(await startQuicServer());
    const server = await bench.serveTls(true, {
      "alt-svc": `h3=":${quic.port}"; ma=3600, h3-29="alt.test:443"; persist=1`,
    });
    const result = await bench.run(`${server.url}/`);
    expect(result.alt_svc).toEqual([
      { alpn: "h3", host: "127.0.0.1", port: quic.port, max_age_s: 3600, persist: false },
      { alpn: "h3-29", host: "alt.test", port: 443, max_age_s: 86_400, persist: true },
    ]);
    expect(result.h3).toMatchObject({
      advertised_alt_svc: true,
      advertised_https_rr: false,
      quic_reachable: true,
      quic_versions: ["0x00000001", "0x6b3343cf"],
      quic_version_names: ["QUIC version 1 (RFC 9000)", "QUIC version 2 (RFC 9369)"],
    });
    expect(result.h3.probes[0]).toMatchObject({ source: "alt_svc", ip: "127.0.0.1", port: quic.port, reachable: true });
    expect(result.h3.probes[0]?.rtt_ms).toBeGreaterThan(0);
    expect(result.h3.probes[1]).toMatchObject({ host: "alt.test", ip: null, reachable: "unknown" });
  });

  it("is probed at the origin's own port if nothing is advertised", async () => {
    const server = await bench.serveTls(true);
    await bench.quicAt(server.port);
    const result = await bench.run(`${server.url}/`);
    expect(result.h3).toMatchObject({ advertised_alt_svc: false, quic_reachable: true });
    expect(result.h3.probes[0]).toMatchObject({ source: "origin", port: server.port });
  });

  it("is unreachable if the port is closed, regardless of what is advertised", async () => {
    const server = await bench.serveTls(true, { "alt-svc": `h3=":${await freePort()}"` });
    expect((await bench.run(`${server.url}/`)).h3).toMatchObject({ advertised_alt_svc: true, quic_reachable: false });
  });

  it("is unknown if the port does not answer", async () => {
    const server = await bench.serveTls(true);
    await bench.quicAt(server.port, "silent");
    const result = await bench.run(`${server.url}/`);
    expect(result.h3).toMatchObject({ quic_reachable: "unknown", quic_versions: [] });
    expect(result.limitations.join()).toContain("No answer over UDP");
  });

  it("is withdrawn by clear", async () => {
    const server = await bench.serveTls(true, { "alt-svc": 'clear, h3=":443"' });
    expect(await bench.run(`${server.url}/`)).toMatchObject({
      alt_svc: [],
      alt_svc_clear: true,
      h3: { advertised_alt_svc: false },
    });
  });

  it("is not probed at addresses or ports that are not allowed", async () => {
    const server = await bench.serveTls(true, { "alt-svc": 'h3="10.0.0.1:443", h3=":25", h3="inside.internal:443"' });
    const { h3 } = await bench.run(`${server.url}/`);
    expect(h3.probes.map(({ ip, reachable, reason }) => [ip, reachable, reason])).toEqual([
      [null, "unknown", "target_not_allowed"],
      [null, "unknown", "blocked_port"],
      [null, "unknown", "target_not_allowed"],
    ]);
    expect(h3.quic_reachable).toBe("unknown");
  });

  it("is probed at no more than three places", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `h3=":${40_000 + index}"`).join(", ");
    const server = await bench.serveTls(true, { "alt-svc": many });
    const result = await bench.run(`${server.url}/`);
    expect(result.h3.probes).toHaveLength(3);
    expect(result.alt_svc.length).toBeLessThanOrEqual(50);
  });
});

/** Runs the tool on a server whose name has an address, and the HTTPS records and further names that are given. */
async function recordsOf(
  https: readonly string[],
  more: (name: string) => DnsServerOptions["zones"] = () => ({}),
  failing?: string,
) {
  const server = await bench.serveTls(true);
  const name = `_${server.port}._https.site.test`;
  const zones = { "site.test": { A: ["127.0.0.1"] }, [name]: { HTTPS: https } };
  const behaviours = failing === undefined ? {} : { [name]: { status: failing } };
  const dns = await bench.dnsOf({ ...zones, ...more(name) }, { behaviours });
  const result = await bench.run(`https://site.test:${server.port}/`, { dnsServers: [dns.address] });
  return { name, result };
}

describe("HTTPS records", () => {
  const ALT = { A: ["127.0.0.1"] };

  it("for a port other than 443 are at _port._https, and lead to HTTP/3", async () => {
    const quic = bench.keep(await startQuicServer());
    const { name, result } = await recordsOf(
      [`2 . alpn="h2"`, `1 alt.test. alpn="h3,h2" port=${quic.port} ech=AAEC ipv4hint=127.0.0.1`],
      () => ({ "alt.test": ALT }),
    );
    const bare = { ipv6hint: [], compatible: true };
    const first = { priority: 1, target: "alt.test", alpn: ["h3", "h2", "http/1.1"], port: quic.port };
    const second = { priority: 2, target: name, alpn: ["h2", "http/1.1"], port: null };
    expect(result.https_rr).toEqual({
      name,
      status: "NOERROR",
      aliases: [],
      records: [
        { ...bare, ...first, ech: true, ipv4hint: ["127.0.0.1"] },
        { ...bare, ...second, ech: false, ipv4hint: [] },
      ],
    });
    expect(result).toMatchObject({ ech: true, h3: { advertised_https_rr: true, quic_reachable: true } });
    expect(result.h3.probes[0]).toMatchObject({ source: "https_rr", host: "alt.test", port: quic.port });
  });

  it("in AliasMode are followed (RFC 9460 section 2.4.2)", async () => {
    const { result } = await recordsOf(["0 pool.test."], () => ({
      "pool.test": { HTTPS: ["0 alt.test."] },
      "alt.test": { HTTPS: ['1 . alpn="h2"'], ...ALT },
    }));
    expect(result.https_rr).toMatchObject({ aliases: ["pool.test", "alt.test"], records: [{ target: "alt.test" }] });
  });

  it("that clients cannot use do not advertise HTTP/3 (section 8)", async () => {
    const { result } = await recordsOf(['1 . mandatory=key667 alpn="h3" key667=x']);
    const https_rr = { records: [{ compatible: false }] };
    expect(result).toMatchObject({ h3: { advertised_https_rr: false }, https_rr });
  });

  it("that form a loop or have no target are reported", async () => {
    const circle = await recordsOf(["0 a.test."], (name) => ({ "a.test": { HTTPS: [`0 ${name}.`] } }));
    expect(circle.result.limitations).toContain("HTTPS records lead in a circle.");
    const nowhere = await recordsOf(["0 ."]);
    expect(nowhere.result.limitations).toContain("An HTTPS record says that the service does not exist.");
  });

  it("that cannot be looked up leave ECH null", async () => {
    const { result } = await recordsOf([], () => ({}), "SERVFAIL");
    expect(result).toMatchObject({ ech: null, https_rr: { status: "SERVFAIL", records: [] } });
    expect(result.limitations.join()).toContain("could not be looked up");
  });
});
