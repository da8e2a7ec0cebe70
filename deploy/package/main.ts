// npm run package [-- vantage-agent] [--out DIR] [--no-deb] [--no-image] [--chromium] [--key FILE]: makes the packages of a
// release in dist/, from the clone's own installation: sources without types, the packages that they need, and Node.js.
// The same commit gives the same bytes.
import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey, sign } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AGENT_FILES, BUNDLE_FILE, type Bundle } from "#control-plane/surfaces/install/bundle.ts";
import { digestOf, writeArchive } from "#shared/process/archive.ts";
import { readBuild } from "#shared/process/build.ts";
import { debianArchitecture, writeDebianTree } from "./debian.ts";
import { explainNoImages, IMAGES, writeImage } from "./images.ts";
import { KINDS, listFiles, readManifest, writeTree, type Kind, type Release } from "./tree.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const git = (...words: string[]): string => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();

/** Reads what is packed from the clone. VANTAGE_BUILD_VERSION names it otherwise. */
function readRelease(): Release {
  const { revision } = readBuild(root);
  const time = Number(process.env["SOURCE_DATE_EPOCH"] ?? git("log", "-1", "--format=%ct"));
  const named = process.env["VANTAGE_BUILD_VERSION"];
  if (named !== undefined) return { root, revision, version: named, time };
  if (git("status", "--porcelain") !== "")
    throw new Error("the clone has changes that are not committed: commit them, or set VANTAGE_BUILD_VERSION");
  const commits = git("rev-list", "--count", "HEAD");
  return { root, revision, version: `${readManifest(root).version}+${commits}.g${revision.slice(0, 8)}`, time };
}

/** Makes the Debian package of a tree, which is moved into it. */
function packDebian(release: Release, kind: Kind, parent: string, tree: string, path: string): void {
  const folder = join(parent, `debian-${kind}`);
  mkdirSync(folder, { mode: 0o755 });
  writeDebianTree(release, kind, tree, folder);
  const made = spawnSync("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", folder, path], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(release.time) },
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`dpkg-deb failed: ${made.error?.message ?? made.stderr}`);
}

const { values, positionals } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "dist") },
    deb: { type: "boolean", default: true },
    image: { type: "boolean", default: true },
    chromium: { type: "boolean", default: false },
    key: { type: "string" },
  },
  allowNegative: true,
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !KINDS.includes(name as Kind));
if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: the packages are ${KINDS.join(", ")}`);
const signingKey = values.key === undefined ? null : createPrivateKey(readFileSync(values.key));
if (signingKey !== null && signingKey.asymmetricKeyType !== "ed25519")
  throw new Error(`${values.key} must be an Ed25519 key: openssl genpkey -algorithm ed25519`);
const isDebian = values.deb && spawnSync("dpkg-deb", ["--version"]).status === 0;
if (values.deb && !isDebian) console.error("dpkg-deb is not installed: no Debian packages are made");
const noImages = values.image ? explainNoImages() : null;
if (noImages !== null) console.error(`no images are made: ${noImages}`);
process.umask(0o022);
const release = readRelease();
mkdirSync(values.out, { recursive: true });
const made: string[] = [];
const isAsked = (kind: Kind): boolean => positionals.length === 0 || positionals.includes(kind);
const work = mkdtempSync(join(tmpdir(), "vantage-package-"));
try {
  // The agent's first: the service gives it to hosts.
  const agent = await packTree("vantage-agent");
  if (isAsked("vantage")) wrap("vantage", (await packTree("vantage", agent)).name);
  if (isAsked("vantage-agent")) wrap("vantage-agent", agent.name);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Writes the tree of a package and makes its archive. `agent`: that of the agent, which the service gives to hosts. */
async function packTree(kind: Kind, agent?: Bundle): Promise<Bundle> {
  const name = `${kind}-${release.version}`;
  const tree = join(work, name);
  mkdirSync(tree);
  writeTree(release, kind, tree);
  if (agent !== undefined) addBundle(tree, agent);
  const archive = { name, time: release.time, files: listFiles(tree, ["."]) };
  const file = `${name}-linux-${process.arch}.tar.gz`;
  const path = join(isAsked(kind) ? values.out : work, file);
  await writeArchive({ ...archive, sourceOf: (source) => join(tree, source) }, path);
  if (isAsked(kind)) made.push(file);
  return { ...archive, sha256: await digestOf(path) };
}

/** Adds what the service needs to make the agent's archive: its list of files, and those that the service's do not have. */
function addBundle(tree: string, agent: Bundle): void {
  const own = join(work, agent.name);
  const isShared = (path: string): boolean =>
    existsSync(join(tree, path)) && readFileSync(join(tree, path)).equals(readFileSync(join(own, path)));
  for (const path of agent.files.filter((file) => !isShared(file))) {
    mkdirSync(dirname(join(tree, AGENT_FILES, path)), { recursive: true });
    copyFileSync(join(own, path), join(tree, AGENT_FILES, path));
  }
  writeFileSync(join(tree, BUNDLE_FILE), JSON.stringify(agent));
}

/** Makes images and the Debian package of a tree, which the last one takes away. */
function wrap(kind: Kind, name: string): void {
  const tree = join(work, name);
  for (const [variant, target] of values.image && noImages === null ? Object.entries(IMAGES[kind]) : []) {
    if (target === "chromium" && !values.chromium) continue;
    const image = `${name}-${debianArchitecture()}${variant}.oci.tar`;
    writeImage(release, { name: `${kind}${variant}`, target, tree, path: join(values.out, image) });
    made.push(image);
  }
  if (!isDebian) return;
  const debian = `${kind}_${release.version}_${debianArchitecture()}.deb`;
  packDebian(release, kind, work, tree, join(values.out, debian));
  made.push(debian);
}

const sums: string[] = [];
for (const file of made.toSorted()) {
  const path = join(values.out, file);
  sums.push(`${await digestOf(path)}  ${file}\n`);
  console.log(`${path}: ${(statSync(path).size / 1e6).toFixed(1)} MB`);
}
writeFileSync(join(values.out, "SHA256SUMS"), sums.join(""));
if (signingKey !== null)
  writeFileSync(join(values.out, "SHA256SUMS.sig"), sign(null, Buffer.from(sums.join("")), signingKey));
