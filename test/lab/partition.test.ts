import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import {
  makeSecrets,
  PLACES,
  startAgent,
  startControlPlane,
  startDatabase,
  type Hub,
  type LabAnswer,
  type LabControlPlane,
} from "#test/lab/services/product.ts";
import { LAB } from "#test/lab/topology.ts";
import { endsBy } from "#test/support/deadlines.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

/** Time in which all replicas end the streams of a revoked agent, milliseconds. */
const REVOKE_MS = 1_000;
/** For calls that count against a key. */
const SOON = { interval: 250 };
const TARGET = `http://${addressOf(LAB, "svc")}:8000`;
/** Does not answer the first request of each path, and prints its sender; answers all later ones. */
const FIRST_HANGS = `
  const seen = new Set();
  require("node:http").createServer((request, response) => {
    if (seen.has(request.url)) return response.end("ok");
    seen.add(request.url);
    console.log("hangs " + request.url + " " + request.socket.remoteAddress + ";");
  }).listen(8000, "${addressOf(LAB, "svc")}", () => console.log("ready"));`;

describe.skipIf(why !== null)("two replicas, and agents that know one of them by name", () => {
  let lab: Lab;
  let databaseUrl = "";
  let key = "";
  let hub: LabControlPlane;
  let hub2: LabControlPlane;
  let web: Daemon;
  let agents: ReadonlyMap<string, Daemon>;
  const secrets = makeSecrets();

  const startHub = (name: Hub): Promise<LabControlPlane> => startControlPlane(lab.network, name, databaseUrl, secrets);

  beforeAll(async () => {
    lab = await startLab();
    const { network } = lab;
    databaseUrl = (await startDatabase(network)).url;
    hub = await startHub("hub");
    hub2 = await startHub("hub2");
    key = await hub.createKey();
    web = await startDaemon(network, { node: "svc", command: [process.execPath, "-e", FIRST_HANGS], ready: "ready" });
    const files = { trustAnchorFile: lab.names.trustAnchorFile, rootFile: lab.web.rootFile };
    // They learn of the second replica from the first one's welcome.
    const settings = { VANTAGE_CONTROL_PLANE: "hub.lab.test:50051" };
    const twin = { ...PLACES.eu, region: "eu-central" };
    const start = async (region: "eu" | "us" | "ap", place = PLACES[region]) =>
      [`probe-${region}`, await startAgent(network, region, [hub, hub2], files, settings, place)] as const;
    agents = new Map(await Promise.all([start("eu"), start("us", twin), start("ap")]));
  });
  afterAll(() => lab?.close());

  interface Probe {
    readonly id: string;
    readonly region: string;
    readonly status: string;
    readonly replicas: readonly string[];
  }

  const probes = async (plane: LabControlPlane): Promise<readonly Probe[]> => {
    const { body } = await plane.call("/api/admin/probes", { operator: true });
    const rows: readonly Probe[] | undefined = body.data;
    return rows ?? [];
  };
  /** Returns region, status and number of replicas with a stream of each agent, one line each. */
  const attachments = async (plane: LabControlPlane): Promise<readonly string[]> =>
    (await probes(plane)).map(({ region, status, replicas }) => `${region} ${status} ${replicas.length}`);
  const EVERYWHERE = ["ap-southeast online 2", "eu-central online 2", "eu-west online 2"];

  const check = (plane: LabControlPlane, path: string, locations: string): Promise<LabAnswer> =>
    plane.call(`/api/v4/check?url=${TARGET}/${path}&locations=${locations}`, { key });

  /** Returns the probe whose request of this path hangs. */
  async function holderOf(path: string): Promise<string> {
    const line = new RegExp(`hangs /${path} ([^;]+);`);
    await expect.poll(() => web.log(), { interval: 20 }).toMatch(line);
    const ip = line.exec(web.log())?.[1];
    return [...agents.keys()].find((node) => addressOf(LAB, node) === ip) ?? "";
  }

  const cutOff = (node: string) => Promise.all([lab.network.cut(node, "hub"), lab.network.cut(node, "hub2")]);
  const rejoin = (node: string) => Promise.all([lab.network.heal(node, "hub"), lab.network.heal(node, "hub2")]);

  it("each have a stream to every agent", async () => {
    await expect.poll(() => attachments(hub), SOON).toEqual(EVERYWHERE);
    await expect.poll(() => attachments(hub2), SOON).toEqual(EVERYWHERE);
    // The first request of a path hangs until its deadline. Later ones are answered, for every caller.
    await lab.network.run("hub", ["curl", "-m", "1", `${TARGET}/warm`]);
    for (const plane of [hub, hub2]) expect((await check(plane, "warm", "frankfurt")).status).toBe(200);
  });

  it("answer a job from another probe of the region after its holder is cut off, which comes back", async () => {
    const answer = check(hub, "job", "frankfurt");
    const holder = await holderOf("job");
    await cutOff(holder);
    const { status, body, text } = await answer;
    expect(status, text).toBe(200);
    expect(body.data).toMatchObject({ summary: { ok: 1 }, locations: [{ status: "ok", data: { code: 200 } }] });
    await expect.poll(() => attachments(hub), SOON).toContainEqual(expect.stringMatching(/^eu-\w+ offline 0$/));
    await rejoin(holder);
    await expect.poll(() => attachments(hub), SOON).toEqual(EVERYWHERE);
  });

  it("return probe_unavailable if the one that was cut off was the only one", async () => {
    const answer = check(hub, "alone", "ap-southeast");
    const holder = await holderOf("alone");
    await cutOff(holder);
    const { text } = await answer;
    expect(text).toContain("probe_unavailable");
    await rejoin(holder);
    await expect.poll(() => attachments(hub), SOON).toEqual(EVERYWHERE);
  });

  it("continue while one of them is killed, which has all agents again after its return", async () => {
    const before = new Set((await probes(hub2)).flatMap(({ replicas }) => replicas));
    hub.daemon.kill("SIGKILL");
    await hub.daemon.exited;
    const others = await Promise.all(["frankfurt", "ap-southeast"].map((place) => check(hub2, "warm", place)));
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    hub = await startHub("hub");
    const holdsNew = async (plane: LabControlPlane): Promise<readonly boolean[]> =>
      (await probes(plane)).map(({ replicas }) => replicas.some((replica) => !before.has(replica)));
    for (const plane of [hub, hub2]) await expect.poll(() => holdsNew(plane), SOON).toEqual([true, true, true]);
    // The data of the killed replica ends with its lease.
    for (const plane of [hub, hub2]) await expect.poll(() => attachments(plane), SOON).toEqual(EVERYWHERE);
    expect((await check(hub, "warm", "frankfurt")).status).toBe(200);
  });

  it("are not ready while cut off from the database, one after the other, and recover", async () => {
    const ready = async (plane: LabControlPlane): Promise<number> => (await plane.call("/readyz")).status;
    expect([await ready(hub), await ready(hub2)]).toEqual([200, 200]);
    await lab.network.cut("hub", "db");
    await expect.poll(() => ready(hub), SOON).toBe(503);
    expect((await hub.call("/healthz")).status).toBe(200);
    expect(await ready(hub2)).toBe(200);
    expect((await check(hub2, "warm", "frankfurt")).status).toBe(200);
    await lab.network.heal("hub", "db");
    await expect.poll(() => ready(hub), SOON).toBe(200);
    await expect.poll(async () => (await check(hub, "warm", "frankfurt")).status, SOON).toBe(200);
    await expect.poll(() => attachments(hub), SOON).toEqual(EVERYWHERE);
  });

  it("both close a revoked agent's stream within a second, and it does not attach again", async () => {
    const id = (await probes(hub)).find(({ region }) => region === "ap-southeast")?.id ?? "";
    const agent = agents.get("probe-ap");
    // The agent ends at the first refusal, perhaps before the second one is sent.
    const detachments = ({ daemon }: LabControlPlane): number =>
      daemon
        .log()
        .split("\n")
        .filter((line) => line.includes('"agent detached"') && line.includes(id)).length;
    const before = [hub, hub2].map(detachments);
    const revoked = await hub.call(`/api/admin/probes?id=${id}`, { operator: true, method: "DELETE" });
    expect(revoked.status).toBe(200);
    const closed = (): readonly number[] => [hub, hub2].map(detachments);
    await endsBy(REVOKE_MS, async () => {
      await expect.poll(closed, { interval: 10 }).toEqual(before.map((count) => count + 1));
    });
    const attached = agent?.log().match(/"attached"/g)?.length;
    // It has ended, so that it cannot attach later.
    await agent?.exited;
    expect(agent?.log()).toContain('"reason":"revoked"');
    expect(agent?.log().match(/"attached"/g)?.length).toBe(attached);
    await expect.poll(() => attachments(hub2), SOON).toContain("ap-southeast revoked 0");
    // Its region is known until the replica reads again which agents are enrolled, every few seconds.
    const { status, text } = await check(hub, "warm", "ap-southeast");
    expect([400, 503], text).toContain(status);
    expect(text).toMatch(/probe_unavailable|no probe matches/);
  });
});
