import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { tokenFor } from "#test/support/agent-listener.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { freePort } from "#test/support/free-port.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// The images as buildah reads them: it needs root, buildah, mmdebstrap and Debian's mirror. Their containers are made here
// from namespaces, because a test has no container engine: file system read-only, not root, Docker's capabilities.
const VERSION = "0.1.0+1.gtest";
const EPOCH = "1700000000";
/** Capabilities that Docker leaves to a container (https://docs.docker.com/engine/security/#linux-kernel-capabilities). */
const CAPABILITIES =
  "chown,dac_override,fsetid,fowner,mknod,net_raw,setgid,setuid,setfcap,setpcap,net_bind_service,sys_chroot,kill";

/** What `--cap-drop ALL` leaves (deploy/compose.yaml), and what makes the container here: it is gone in it. */
const NONE = "setgid,setuid,sys_chroot";

const folder = mkdtempSync(join(tmpdir(), "vantage-images-"));
const storage = ["--storage-driver=vfs", `--root=${folder}/root`, `--runroot=${folder}/run`];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, words: readonly string[], cwd = ROOT): string {
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot", VANTAGE_BUILD_VERSION: VERSION, SOURCE_DATE_EPOCH: EPOCH };
  const { status, stdout, stderr, error } = spawnSync(program, words, { env, cwd, encoding: "utf8", maxBuffer: 64e6 });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")}: ${error?.message ?? stderr}`);
  return stdout.trim();
}
const buildah = (...words: readonly string[]): string => run("buildah", [...storage, ...words]);
const make = (out: string, ...words: readonly string[]): string =>
  run(process.execPath, [
    "--disable-warning=ExperimentalWarning",
    "deploy/package/main.ts",
    ...words,
    "--no-deb",
    `--out=${out}`,
  ]);

interface Image {
  readonly files: string;
  readonly config: {
    readonly Entrypoint: string[];
    readonly Cmd: string[];
    readonly Env: string[];
    readonly User: string;
  };
  readonly labels: Readonly<Record<string, string>>;
}

/** Reads an image by what another program makes of it. */
function open(from: string): Image {
  const container = buildah("from", "--pull-never", from);
  const { OCIv1 } = JSON.parse(buildah("inspect", container)) as {
    OCIv1: { config: Image["config"] & { Labels: Record<string, string> } };
  };
  return { files: buildah("mount", container), config: OCIv1.config, labels: OCIv1.config.Labels };
}

const containers: { kill(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const container of containers.splice(0)) await container.kill();
});

/** Makes a folder that the user of an image owns, as an engine does for a volume. */
function makeVolume({ config }: Image, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { mode: 0o700 });
  const [uid = 0, gid = 0] = config.User.split(":").map(Number);
  chownSync(path, uid, gid);
  return path;
}

/** Starts a container; returns its output so far, its status when it has ended, and what kills it. `words` replace the image's own command. */
function start(
  { files, config }: Image,
  volume: string,
  environment: readonly string[],
  words: readonly string[] = config.Cmd,
  capabilities = CAPABILITIES,
) {
  const target = config.Env.find((line) => line.startsWith("VANTAGE_DATA_DIR="))?.slice(17) ?? "";
  const mounts = `set -e
    mount --bind "$0" "$0"; mount -t proc proc "$0/proc"; mount -t tmpfs tmpfs "$0/tmp"; mount --bind /dev "$0/dev"
    mount --bind "$1" "$0${target}"; mount -o remount,bind,ro "$0"; shift; exec "$@"`;
  const user = ["setpriv", `--bounding-set=-all,+${capabilities.replaceAll(",", ",+")}`];
  const inside = ["chroot", `--userspec=${config.User}`, "--groups=", files, "/bin/busybox", "env", "-i"];
  const given = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", ...config.Env, ...environment, ...config.Entrypoint, ...words];
  const namespaces = ["--mount", "--pid", "--fork", "--kill-child"];
  const child = spawn("unshare", [...namespaces, "sh", "-c", mounts, files, volume, ...user, ...inside, ...given], {
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: a process that has changed its user no longer ends with the one that started it (prctl(2)).
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, "close").then(([status]) => status as number | null);
  const container = {
    output: () => output,
    closed,
    kill() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
        process.kill(-child.pid, "SIGKILL");
      return closed;
    },
  };
  containers.push(container);
  return container;
}

let agent: Image;
let service: Image;
let browsing: Image;
beforeAll(() => {
  make(folder, "--chromium");
  agent = open(`oci-archive:${folder}/vantage-agent-${VERSION}-amd64.oci.tar`);
  service = open(`oci-archive:${folder}/vantage-${VERSION}-amd64.oci.tar`);
  browsing = open(`oci-archive:${folder}/vantage-agent-${VERSION}-amd64-chromium.oci.tar`);
});

const plane = await stopAfterAll(startControlPlane());
const site = await stopAfterAll(startHttpServer());
const settings = async (id: string) => [
  `VANTAGE_CONTROL_PLANE=127.0.0.1:${plane.grpcPort}`,
  `VANTAGE_JOIN_TOKEN=${await tokenFor(plane, "image", id)}`,
  "VANTAGE_REGION=image",
  `VANTAGE_AGENT_METRICS_ADDR=127.0.0.1:${await freePort()}`,
  "VANTAGE_ALLOW_TARGETS=127.0.0.0/8",
];

it("are small, labelled, not root, with a health check and a list of what is in them", () => {
  for (const [image, megabytes] of [
    [service, 300],
    [agent, 220],
  ] as const) {
    expect(Number(run("du", ["--summarize", "--bytes", image.files]).split("\t")[0]) / 1e6).toBeLessThan(megabytes);
    expect(image.labels).toMatchObject({
      "org.opencontainers.image.version": VERSION,
      "org.opencontainers.image.licenses": "Apache-2.0",
    });
    expect(image.labels["org.opencontainers.image.revision"]).toMatch(/^[0-9a-f]{40}$/);
    expect(image.config.User).toMatch(/^1000[12]:/);
    expect(readFileSync(join(image.files, "var/lib/dpkg/status"), "utf8")).toMatch(/^Package: libc6$/m);
    const sbom = readFileSync(join(image.files, "opt/vantage/sbom.cdx.json"), "utf8");
    expect(sbom).toMatch(/"purl": "pkg:npm\/prom-client@/);
    expect(sbom).not.toMatch(/vitest|https?:\/\/registry/);
  }
  // Docker's own format is in the same file.
  const loaded = open(`docker-archive:${folder}/vantage-agent-${VERSION}-amd64.oci.tar`);
  expect(loaded.config).toEqual(agent.config);
  expect(run("diff", ["--recursive", "--no-dereference", loaded.files, agent.files])).toBe("");
  const archive = join(folder, "archive");
  mkdirSync(archive);
  run("tar", ["xf", join(folder, `vantage-${VERSION}-amd64.oci.tar`), "-C", archive]);
  expect(run("grep", ["-rl", "Healthcheck", archive])).toContain("/blobs/sha256/");
  expect(readFileSync(join(archive, "manifest.json"), "utf8")).toContain('"localhost/vantage:0.1.0_1.gtest"');
});

it("of the agent runs read-only and measures with CAP_NET_RAW; its identity survives the container", async () => {
  const volume = makeVolume(agent, "agent");
  const first = start(agent, volume, await settings("agt-image"), agent.config.Cmd, `${NONE},net_raw`);
  await expect.poll(first.output, { message: "the agent attaches" }).toContain('"attached"');
  const key = await plane.createKey("captain");
  const check = await plane.call(`/api/v4/check?url=${encodeURIComponent(site.url)}`, { key });
  expect(check.status).toBe(200);
  expect((await plane.call("/api/v4/ping?host=127.0.0.1&count=1", { key })).text).toContain('"method":"icmp"');
  await first.kill();

  const withoutToken = (await settings("agt-image")).filter((line) => !line.startsWith("VANTAGE_JOIN_TOKEN="));
  const second = start(agent, volume, withoutToken);
  await expect.poll(second.output, { message: "the agent attaches again" }).toContain('"attached"');
  expect((await plane.call("/api/v4/ping?host=127.0.0.1&count=1", { key })).text).toContain('"method":"icmp"');
});

it("of the agent starts in a container without NET_RAW", async () => {
  const few = CAPABILITIES.replace("net_raw,", "");
  const { output, closed } = start(agent, makeVolume(agent, "few"), [], ["--version"], few);
  expect(await closed, output()).toBe(0);
  expect(output()).toBe(`${VERSION}\n`);
});

it("of the agent with Chromium takes pictures of pages", async () => {
  // For the setuid sandbox: a chroot, as these containers are, allows no user namespaces (user_namespaces(7)).
  const capabilities = `${CAPABILITIES},sys_admin`;
  const volume = makeVolume(browsing, "browsing");
  const { output } = start(browsing, volume, await settings("agt-browsing"), browsing.config.Cmd, capabilities);
  await expect.poll(output, { message: "the agent attaches" }).toContain('"attached"');
  const key = await plane.createKey("captain");
  const monitor = { url: site.url, check_type: "visual", locations: ["image"] };
  const { status, body } = await plane.call("/api/v4/monitors", { key, body: monitor });
  expect(status, JSON.stringify(body)).toBe(201);
  const { id } = body.data as { readonly id: number };
  const read = async (): Promise<unknown> => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
  await expect.poll(read, { message: output(), interval: 1_000 }).toMatchObject({ status: "up" });
});

it("of the agent with Chromium has no browser where its sandbox cannot start, and says why", async () => {
  const { output } = start(browsing, makeVolume(browsing, "confined"), await settings("agt-confined"));
  await expect.poll(output, { message: "the agent attaches" }).toContain('"attached"');
  expect(output()).toContain("Chromium is not used: its sandbox cannot start");
  expect(output()).not.toContain('"browser"]');
});

it("of the service runs read-only with its embedded database", async () => {
  const port = await freePort();
  const environment = [
    `VANTAGE_HTTP_ADDR=127.0.0.1:${port}`,
    `VANTAGE_GRPC_ADDR=127.0.0.1:${await freePort()}`,
    "VANTAGE_METRICS_ADDR=off",
    "VANTAGE_AGENT_METRICS_ADDR=off",
    "VANTAGE_ALLOW_TARGETS=127.0.0.0/8",
  ];
  const { output } = start(service, makeVolume(service, "service"), environment, service.config.Cmd, NONE);
  await expect.poll(output, { message: "the service is ready" }).toContain("Ctrl-C stops everything");
  const key = /vtg_[0-9A-Za-z]{36}/.exec(output())?.[0] ?? "";
  const url = `http://127.0.0.1:${port}/api/v4/check?url=${encodeURIComponent(site.url)}`;
  expect((await fetch(url, { headers: { "x-api-key": key } })).status).toBe(200);
});

it("are also built from Debian's own image by the Containerfile in the archive", () => {
  const debian = join(folder, "debian");
  run("mmdebstrap", ["--variant=minbase", "bookworm", debian]);
  const container = buildah("from", "scratch");
  buildah("add", "--quiet", container, debian, "/");
  buildah("commit", "--quiet", "--rm", container, "docker.io/library/debian:12-slim");
  run("tar", ["xzf", join(folder, `vantage-agent-${VERSION}-linux-x64.tar.gz`), "-C", folder]);
  const tree = join(folder, `vantage-agent-${VERSION}`);
  const words = ["--quiet", "--pull-never", `--file=${tree}/Containerfile`, "--tag=localhost/own"];
  buildah("bud", ...words, tree);
  const own = buildah("from", "--pull-never", "localhost/own");
  expect(buildah("run", own, "--", "vantage", "--version")).toBe(VERSION);
  expect(buildah("run", own, "--", "/sbin/getcap", "/sbin/capsh")).toContain("cap_net_raw=p");
});

it("have the same bytes each time", () => {
  const again = join(folder, "again");
  make(again, "vantage-agent");
  const sums = readFileSync(join(again, "SHA256SUMS"), "utf8").trim().split("\n");
  expect(sums).toHaveLength(2);
  for (const line of sums) expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).toContain(line);
});
