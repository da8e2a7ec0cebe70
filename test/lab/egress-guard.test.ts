import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { packetFilter } from "#test/lab/configure.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { startDaemon } from "#test/lab/services/daemon.ts";
import { PLACES, startAgent } from "#test/lab/services/product.ts";
import { LAB, LAB_RANGES } from "#test/lab/topology.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

const SENTINEL = { 4: addressOf(LAB, "sentinel", 4), 6: addressOf(LAB, "sentinel", 6) };
const REDIRECTOR = `http://${addressOf(LAB, "web")}:8001`;
/** A server that redirects to the target in its path. */
const REDIRECTS = `
  require("node:http").createServer(({ url }, response) => {
    response.writeHead(302, { location: decodeURIComponent(url.slice(1)) }).end();
  }).listen(8001, "${addressOf(LAB, "web")}", () => console.log("ready"));`;

/** Every call that could send a packet to an address or to a name with that address. */
const STRAIGHT = [SENTINEL[4], `[${SENTINEL[6]}]`, "sentinel.lab.test"].flatMap((host) => {
  const bare = host.replaceAll(/[[\]]/g, "");
  return [
    `ping?host=${bare}`,
    `ping?host=${bare}&protocol=tcp`,
    `ping?host=${bare}&action=ports&ports=53,80,443`,
    `ping?host=${bare}&action=traceroute`,
    `ping?host=${bare}&action=traceroute&protocol=udp`,
    `ping?host=${bare}&action=traceroute&protocol=tcp`,
    `ssl?host=${bare}`,
    `check?url=http://${host}/`,
    `check?url=https://${host}/`,
    `health?url=http://${host}/`,
  ];
});
/** The same address in other spellings of the URL parser. */
const DISGUISED = ["3405803787", "0xcb00710b", "0313.0.0161.013", `[::ffff:${SENTINEL[4]}]`].map(
  (host) => `check?url=http://${host}/`,
);
const REDIRECTED = [SENTINEL[4], `[${SENTINEL[6]}]`, "sentinel.lab.test"].map(
  (host) => `check?url=${REDIRECTOR}/${encodeURIComponent(encodeURIComponent(`http://${host}/`))}`,
);

describe.skipIf(why !== null)("an agent whose operator has not allowed an address", () => {
  let lab: Lab & { readonly service: Service };
  let key = "";
  beforeAll(async () => {
    lab = await startServiceLab({ regions: ["ap"] });
    const { network, service, names, web } = lab;
    key = await service.plane.createKey();
    await startDaemon(network, { node: "web", command: [process.execPath, "-e", REDIRECTS], ready: "ready" });
    // Earlier than any rule that could drop packets on the sentinel.
    const watched = ["ip saddr 198.18.0.0/15 counter", "ip6 saddr 2001:db8:19::/48 counter"];
    await network.nft("sentinel", packetFilter("watch", "prerouting", watched));
    const files = { trustAnchorFile: names.trustAnchorFile, rootFile: web.rootFile };
    const closed = { VANTAGE_ALLOW_TARGETS: "", VANTAGE_ALLOW_NAMES: "" };
    const ranges = LAB_RANGES.filter((range) => !range.startsWith("203.0.113.") && !range.includes(":"));
    const narrow = { VANTAGE_ALLOW_TARGETS: [...ranges, "2001:db8:51:100::/64"].join(",") };
    await Promise.all([
      startAgent(network, "us", service.planes, files, closed, { ...PLACES.us, region: "closed" }),
      startAgent(network, "eu", service.planes, files, narrow, { ...PLACES.eu, region: "narrow" }),
    ]);
  });
  afterAll(() => lab?.close());

  const call = (path: string, region: string) => lab.service.plane.call(`/api/v4/${path}&locations=${region}`, { key });

  async function arrived(): Promise<number> {
    const { stdout } = await lab.network.run("sentinel", ["nft", "list", "table", "inet", "watch"]);
    return Array.from(stdout.matchAll(/packets (\d+)/g), ([, count]) => Number(count)).reduce((sum, n) => sum + n, 0);
  }

  it.each(["closed", "narrow"])(
    "refuses the address in every spelling and sends nothing there: lists are %s",
    async (region) => {
      for (const path of [...STRAIGHT, ...DISGUISED]) {
        const { text, status } = await call(path, region);
        expect(text, path).toContain("target_not_allowed");
        expect(status, path).toBe(400);
      }
      expect(await arrived()).toBe(0);
    },
  );

  it("follows no redirect there from an allowed page", async () => {
    for (const path of REDIRECTED) {
      const { text } = await call(path, "narrow");
      expect(text, path).toContain("target_not_allowed");
    }
    expect(await arrived()).toBe(0);
  });

  it("does not query it as a name server", async () => {
    for (const module of ["dns_udp", "dns_tcp"]) {
      for (const target of [SENTINEL[4], `[${SENTINEL[6]}]:53`, "sentinel.lab.test"]) {
        for (const region of ["closed", "narrow"]) {
          const query = `target=${target}&module=${module}&query_name=www.signed.test&region=${region}`;
          const { text } = await lab.service.plane.call(`/api/v4/probe?${query}`, { key });
          expect(text, query).toMatch(/target_not_allowed|^probe_success 0$/m);
        }
      }
    }
    expect(await arrived()).toBe(0);
  });

  it("another agent that is allowed to reach the address does, and its packets are counted", async () => {
    const region = PLACES.ap.region;
    expect((await call(`ping?host=${SENTINEL[4]}&count=1`, region)).status).toBe(200);
    const overIpv4 = await arrived();
    expect(overIpv4).toBeGreaterThan(0);
    expect((await call(`ping?host=${SENTINEL[6]}&count=1`, region)).status).toBe(200);
    expect(await arrived()).toBeGreaterThan(overIpv4);
  });
});
