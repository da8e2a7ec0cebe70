import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedHops } from "#test/lab/paths.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { LAB, LAB_RANGES } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";

const NOBODY = 65_534;
const IDENTITY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
/** An ordinary user with the one capability that raw sockets need, as a systemd unit grants it. */
const AS_NOBODY = [
  "setpriv",
  ...IDENTITY,
  "--no-new-privs",
  "--inh-caps=-all,+net_raw",
  "--ambient-caps=-all,+net_raw",
];
const ENTRY = `${ROOT}/probe-agent/main.ts`;

const canRead = spawnSync("setpriv", [...IDENTITY, process.execPath, "-e", `require("fs").accessSync("${ENTRY}")`]);
const why = whyNoLab() ?? (canRead.status === 0 ? null : "skipped: needs a tree that the user nobody can read");
if (why !== null) console.warn(why);

describe.skipIf(why !== null)("an agent that is an ordinary user with only CAP_NET_RAW", () => {
  let lab: Lab & { readonly service: Service };
  let agent: Daemon;
  let stateDir = "";
  let key = "";

  beforeAll(async () => {
    lab = await startServiceLab({ regions: [] });
    const { network, service } = lab;
    key = await service.plane.createKey();
    const asked = { operator: true, body: { region: "ordinary" } };
    const joined = await service.plane.call("/api/admin/probe-tokens", asked);
    const { token } = joined.body.data as { token: string };
    stateDir = join(network.folder, "ordinary");
    mkdirSync(stateDir);
    chownSync(stateDir, NOBODY, NOBODY);
    network.etc("probe-us", "hosts", `127.0.0.1 localhost\n${addressOf(LAB, "hub")} hub.lab.test\n`);
    agent = await startDaemon(network, {
      node: "probe-us",
      command: [...AS_NOBODY, process.execPath, ENTRY],
      environment: {
        VANTAGE_CONTROL_PLANE: "hub.lab.test:50051",
        VANTAGE_JOIN_TOKEN: token,
        VANTAGE_STATE_DIR: stateDir,
        VANTAGE_AGENT_METRICS_ADDR: "off",
        VANTAGE_REGION: "ordinary",
        VANTAGE_ALLOW_TARGETS: LAB_RANGES.join(","),
        VANTAGE_ALLOW_NAMES: "test",
        VANTAGE_DNS_SERVERS: addressOf(LAB, "resolver-us"),
      },
      ready: '"attached"',
    });
  });
  afterAll(() => lab?.close());

  const call = async (path: string): Promise<Record<string, unknown>> => {
    const { status, text, body } = await lab.service.plane.call(`/api/v4/${path}`, { key });
    expect(status, text).toBe(200);
    return body.data;
  };

  it("has that capability and no other, and only it can read its identity", () => {
    const status = readFileSync(`/proc/${agent.pid}/status`, "utf8");
    expect(/^Uid:\s+(\d+)\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1)).toEqual(["65534", "65534", "65534"]);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) {
      expect(new RegExp(`^${set}:\\s+(\\w+)$`, "m").exec(status)?.[1], set).toBe("0000000000002000");
    }
    expect(agent.log()).toContain('"enrolled"');
    const files = readdirSync(stateDir).map((name) => statSync(join(stateDir, name)));
    expect(files.length).toBeGreaterThan(0);
    for (const { uid, mode } of files) expect([uid, mode & 0o077]).toEqual([NOBODY, 0]);
  });

  it("has every capability that raw sockets provide", async () => {
    const { body } = await lab.service.plane.call("/api/admin/probes", { operator: true });
    const [probe] = body.data as readonly { capabilities: string[]; status: string }[];
    expect(probe?.status).toBe("online");
    expect(probe?.capabilities).toEqual(expect.arrayContaining(["icmp4", "icmp6", "traceroute"]));
  });

  it.each([4, 6] as const)("pings, traces with every protocol and fetches, over IPv%i", async (family) => {
    const web = addressOf(LAB, "web", family);
    expect(await call(`ping?host=${web}`)).toMatchObject({ method: "icmp", packets_received: 4 });
    const expected = expectedHops(LAB, "probe-us", "web", family);
    for (const protocol of ["icmp", "udp", "tcp"]) {
      const trace = await call(`ping?host=${web}&action=traceroute&queries=1&protocol=${protocol}`);
      expect(trace).toMatchObject({ reached: true, path_mtu: { bytes: 1_500 } });
      const hops = trace["hops"] as readonly { replies: readonly { ip: string }[] }[];
      expect(hops).toHaveLength(expected.length);
      for (const [index, { replies }] of hops.entries()) expect(expected[index]).toContain(replies[0]?.ip);
    }
    const host = family === 4 ? web : `[${web}]`;
    expect(await call(`check?url=http://${host}/`)).toMatchObject({ code: 200 });
  });
});
