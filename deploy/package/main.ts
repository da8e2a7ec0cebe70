// npm run package [-- vantage-agent] [--out DIR] [--no-deb] [--no-image] [--chromium] [--key FILE]: makes the packages of a release in dist/, from
// the clone's own installation: sources without types, the packages that they need, and Node.js. The same commit gives
// the same bytes.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createGzip } from "node:zlib";
import { readBuild } from "#shared/process/build.ts";
import { debianArchitecture, writeDebianTree } from "./debian.ts";
import { explainNoImages, IMAGES, writeImage } from "./images.ts";
import { KINDS, readManifest, writeTree, type Kind, type Release } from "./tree.ts";

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

/** Packs a folder so that the bytes depend on nothing but its files: sorted, owned by root, with one time for all. */
async function pack(parent: string, name: string, path: string, packing: Duplex = new PassThrough()): Promise<void> {
  const order = [
    "--sort=name",
    `--mtime=@${release.time}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u+rwX,go+rX,go-w",
  ];
  const tar = spawn("tar", ["--create", "--format=gnu", `--directory=${parent}`, ...order, name], {
    env: { ...process.env, LC_ALL: "C" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(tar, "exit");
  await pipeline(tar.stdout, packing, createWriteStream(path));
  const [status] = (await exited) as [number | null];
  if (status !== 0) throw new Error(`tar ended with status ${status}`);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Makes the Debian package of a tree, which is moved into it. */
function packDebian(release: Release, kind: Kind, parent: string, tree: string, path: string): void {
  const folder = join(parent, "debian");
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
for (const kind of KINDS.filter((name) => positionals.length === 0 || positionals.includes(name))) {
  const name = `${kind}-${release.version}`;
  const parent = mkdtempSync(join(tmpdir(), "vantage-package-"));
  try {
    const tree = join(parent, name);
    mkdirSync(tree);
    writeTree(release, kind, tree);
    const archive = `${name}-linux-${process.arch}.tar.gz`;
    await pack(parent, name, join(values.out, archive), createGzip({ level: 9 }));
    made.push(archive);
    for (const [variant, target] of values.image && noImages === null ? Object.entries(IMAGES[kind]) : []) {
      if (target === "chromium" && !values.chromium) continue;
      const image = `${name}-${debianArchitecture()}${variant}.oci.tar`;
      const layout = join(parent, "image");
      writeImage(release, `${kind}${variant}`, target, tree, layout);
      await pack(layout, ".", join(values.out, image));
      rmSync(layout, { recursive: true });
      made.push(image);
    }
    if (isDebian) {
      const debian = `${kind}_${release.version}_${debianArchitecture()}.deb`;
      packDebian(release, kind, parent, tree, join(values.out, debian));
      made.push(debian);
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}
const sums: string[] = [];
for (const file of made) {
  const path = join(values.out, file);
  sums.push(`${await digestOf(path)}  ${file}\n`);
  console.log(`${path}: ${(statSync(path).size / 1e6).toFixed(1)} MB`);
}
writeFileSync(join(values.out, "SHA256SUMS"), sums.join(""));
if (signingKey !== null)
  writeFileSync(join(values.out, "SHA256SUMS.sig"), sign(null, Buffer.from(sums.join("")), signingKey));
