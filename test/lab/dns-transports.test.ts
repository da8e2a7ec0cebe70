import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import { MODULES } from "#control-plane/surfaces/blackbox/routes.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { dig, resolverOf } from "#test/lab/dig.ts";
import type { DnsOrder } from "#test/lab/dns-here.ts";
import { packetFilter } from "#test/lab/configure.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { startResolver } from "#test/lab/services/resolvers.ts";
import { MANY_TEXTS, STALE_SERIALS } from "#test/lab/services/zones.ts";
import { LAB, LAB_RANGES } from "#test/lab/topology.ts";
import { createPki } from "#test/servers/pki.ts";
import { ROOT } from "#test/laws/source-files.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Result = ResultOf<typeof dns>;
type Input = { readonly server: string; readonly transport: "udp" | "tcp" | "dot" | "doh" };

const NODE = "resolver-eu";
const NAME = `${NODE}.lab.test`;
const PORT = 5400;
const SIGNED = { name: "www.signed.test", type: "A" };

describe.skipIf(why !== null)("the dns tool over every transport", () => {
  let lab: Lab;
  let rootFile = "";
  const [ip4, ip6] = [addressOf(LAB, NODE, 4), addressOf(LAB, NODE, 6)];

  beforeAll(async () => {
    lab = await startLab();
    const { folder } = lab.network;
    const pki = await createPki({ name: "Resolver" });
    const leaf = await pki.issue({ dns: [NAME], ip: [ip6] });
    rootFile = join(folder, "resolver-root.pem");
    const [certificate, key] = [join(folder, "resolver.pem"), join(folder, "resolver-key.pem")];
    writeFileSync(rootFile, pki.root.pem);
    writeFileSync(certificate, leaf.pem + pki.intermediate.pem);
    writeFileSync(key, leaf.keyPem);
    const lines = [
      ...[ip4, ip6].flatMap((ip) => [`interface: ${ip}@853`, `interface: ${ip}@443`]),
      "tls-port: 853",
      "https-port: 443",
      `tls-service-pem: "${certificate}"`,
      `tls-service-key: "${key}"`,
      'nsid: "ascii_lab resolver"',
    ];
    await startResolver(lab.network, NODE, lab.names.trustAnchorFile, { port: PORT, lines });
  });
  afterAll(() => lab?.close());

  /** Runs several lookups at the same time in the probe of Europe. `servers` are its resolvers. */
  async function lookUp(lookups: DnsOrder["lookups"], servers: readonly string[] = [ip4]): Promise<readonly Result[]> {
    const { trustAnchorFile } = lab.names;
    const order: DnsOrder = { lookups, servers, allow: LAB_RANGES, trustAnchorFile };
    const command = [process.execPath, `${ROOT}/test/lab/dns-here.ts`, JSON.stringify(order)];
    const said = await lab.network.run("probe-eu", ["env", `NODE_EXTRA_CA_CERTS=${rootFile}`, ...command]);
    if (said.code !== 0) throw new Error(said.stderr);
    return (JSON.parse(said.stdout) as readonly Outcome<Result>[]).map((outcome) => {
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    });
  }

  function ask(name: string, type: string, input: Input): DnsOrder["lookups"][number] {
    // As GET /api/v4/probe passes the server on.
    const call = MODULES.get(`dns_${input.transport}`)?.call(input.server, { queryName: name, queryType: type });
    if (call === undefined || "reason" in call) throw new Error(`${input.server} cannot be asked`);
    return { params: { domain: name, types: type, dnssec: true }, input: call.input ?? {} };
  }

  it.each([
    { input: { transport: "udp", server: `${ip4}:${PORT}` }, ip: ip4, options: ["-p", `${PORT}`] },
    { input: { transport: "udp", server: `[${ip6}]:${PORT}` }, ip: ip6, options: ["-p", `${PORT}`] },
    { input: { transport: "tcp", server: `${NAME}:${PORT}` }, ip: ip4, options: ["+tcp", "-p", `${PORT}`] },
    { input: { transport: "dot", server: NAME }, ip: ip4, options: ["+tls"] },
    { input: { transport: "dot", server: `[${ip6}]` }, ip: ip6, options: ["+tls"] },
    { input: { transport: "doh", server: `https://${NAME}/dns-query` }, ip: ip4, options: ["+https"] },
    { input: { transport: "doh", server: `https://[${ip6}]/dns-query` }, ip: ip6, options: ["+https"] },
  ] as const)(
    "$input.transport to $input.server: the same answer and result as dig's",
    async ({ input, ip, options }) => {
      const questions = [SIGNED, { name: "many.unsigned.test", type: "TXT" }, { name: "www.bogus.test", type: "A" }];
      const [signed, many, bogus] = await lookUp(questions.map(({ name, type }) => ask(name, type, input)));
      expect(signed?.dnssec).toMatchObject({ status: "secure", validated_by: "local", resolver_ad: true });
      expect(signed?.dnssec?.chain.map(({ zone }) => zone)).toEqual([".", "test", "signed.test"]);
      expect(many?.dnssec).toMatchObject({ status: "insecure", validated_by: "local", resolver_ad: false });
      expect(many?.results[0]?.records).toHaveLength(MANY_TEXTS);
      expect(many?.results[0]?.transport).toBe(input.transport === "udp" ? "tcp" : input.transport);
      expect(bogus?.dnssec).toMatchObject({ status: "bogus", validated_by: "local" });
      // Fresh, or from the resolver's cache.
      expect([6, 9]).toContain(bogus?.results[0]?.ede[0]?.code);
      expect(signed?.server?.ip).toContain(input.server.includes(NAME) ? "" : ip);
      const [first] = signed?.results ?? [];
      expect(first?.nsid?.text).toBe("lab resolver");
      expect(first?.connect_ms === 0).toBe(input.transport === "udp");
      expect(first?.rtt_ms).toBeGreaterThanOrEqual(first?.connect_ms ?? Number.NaN);
      const trust =
        input.transport === "udp" || input.transport === "tcp" ? [] : [`+tls-ca=${rootFile}`, `+tls-hostname=${NAME}`];
      const dug = await dig(lab.network, "probe-eu", ip, SIGNED, [...options, ...trust]);
      const ways = { udp: "UDP", tcp: "TCP", dot: "TLS", doh: "HTTPS" };
      expect({
        status: first?.status,
        flags: first?.flags,
        counts: first?.counts,
        data: first?.records.map(({ data }) => data),
        ede: first?.ede,
        nsid: first?.nsid?.text,
        transport: ways[input.transport],
      }).toEqual(dug);
    },
  );

  it("rejects an answer under a certificate without the resolver's name, and does not ask in clear text", async () => {
    // The certificate has the name and the IPv6 address.
    const place = { dot: ip4, doh: `https://${ip4}/dns-query` } as const;
    const inputs = (["dot", "doh"] as const).map((transport) => ({ transport, server: place[transport] }));
    for (const { results } of await lookUp(inputs.map((input) => ask(SIGNED.name, SIGNED.type, input)))) {
      expect(results[0]).toMatchObject({ status: "TIMEOUT", records: [] });
    }
  });

  it("detects a secondary with old data: each server queried over IPv6, UDP and TCP, by its own flags", async () => {
    const servers = Object.entries(STALE_SERIALS);
    for (const transport of ["udp", "tcp"] as const) {
      const inputs = servers.map(([node]) => ({ transport, server: `[${addressOf(LAB, node, 6)}]` }));
      const results = await lookUp(inputs.map((input) => ask("stale.test", "SOA", input)));
      for (const [index, { results: found }] of results.entries()) {
        const [first] = found;
        expect(first?.records[0]?.serial).toBe(servers[index]?.[1]);
        expect(first?.flags).toEqual({ aa: true, tc: false, rd: true, ra: false, ad: false, cd: false });
        expect(first?.transport).toBe(transport);
      }
    }
  });

  it("reports that a lame server refuses, and that its own answer has the loop", async () => {
    const server = addressOf(LAB, "dns-ns1", 6);
    const [lame, loop] = await lookUp([
      ask("www.lame.test", "A", { transport: "udp", server: addressOf(LAB, "dns-lame") }),
      ask("loop-1.unsigned.test", "A", { transport: "tcp", server: `[${server}]` }),
    ]);
    expect(lame?.results[0]).toMatchObject({ status: "REFUSED", records: [] });
    expect(loop?.results[0]?.cname_chain).toEqual(["loop-2.unsigned.test", "loop-1.unsigned.test"]);
    expect(loop?.limitations).toEqual(["A: the aliases (CNAME) lead in a circle"]);
    expect(loop?.results[0]?.ede).toEqual([{ code: 0, name: "Other Error", text: "max. restarts reached" }]);
  });

  it("returns the same results with only IPv6", async () => {
    await lab.network.nft("probe-eu", packetFilter("no_ipv4", "output", ["ip daddr 198.18.0.0/15 drop"]));
    const params = (name: string) => ({ params: { domain: name, types: "A", dnssec: true }, input: {} });
    const names = ["www.signed.test", "www.nsec3.test", "www.unsigned.test", "www.expired.test"];
    const results = await lookUp(names.map(params), [`[${resolverOf(lab.network, "eu", 6)}]:53`]);
    expect(results.map(({ dnssec }) => dnssec?.status)).toEqual(["secure", "secure", "insecure", "bogus"]);
    const [lost] = await lookUp([params("www.signed.test")], [ip4]);
    expect(lost?.results[0]?.status).toBe("TIMEOUT");
  });
});
