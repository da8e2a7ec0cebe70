import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kind, Release } from "./tree.ts";

/** Debian packages of an image, by what needs them: Node.js and PostgreSQL; the scripts; raw sockets; names of protocols. */
const BASE = ["base-files", "libc6", "libstdc++6", "busybox", "netbase"];
const PARTS: Readonly<Record<string, readonly string[]>> = {
  vantage: BASE,
  agent: [...BASE, "libcap2-bin"],
  chromium: [...BASE, "libcap2-bin", "chromium", "chromium-sandbox", "fonts-dejavu-core"],
};
/** The images of each package: what follows in the file's name, and the target in its Containerfile. */
export const IMAGES: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  vantage: { "": "vantage" },
  "vantage-agent": { "": "agent", "-chromium": "chromium" },
};

/** Says what is missing to make images; null if nothing is. */
export function explainNoImages(): string | null {
  if (process.getuid?.() !== 0) return "only root can make them";
  for (const program of ["buildah", "mmdebstrap"]) {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
    } catch {
      return `${program} is not installed`;
    }
  }
  return null;
}

/** An image to make. */
interface ImageOrder {
  /** Its name, without the version. */
  readonly name: string;
  /** The target in the Containerfile. */
  readonly target: string;
  /** The tree of an archive. */
  readonly tree: string;
  /** File to write, in the format oci-archive. */
  readonly path: string;
}

/**
 * Makes an image from the tree of an archive. It contains Debian packages chosen by name, which are unpacked and not
 * configured, and the tree.
 */
export function writeImage(release: Release, { name, target, tree, path }: ImageOrder): void {
  const { version, revision } = release;
  const time = String(release.time);
  const own = mkdtempSync(join(tmpdir(), "vantage-image-"));
  const buildah = (...words: readonly string[]): string =>
    execFileSync("buildah", ["--storage-driver=vfs", `--root=${own}/root`, `--runroot=${own}/run`, ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, BUILDAH_ISOLATION: "chroot", SOURCE_DATE_EPOCH: time },
    }).trim();
  try {
    const base = join(own, "base");
    makeBase(base, PARTS[target] ?? [], time);
    const container = buildah("from", "scratch");
    buildah("add", "--quiet", container, base, "/");
    buildah("commit", "--quiet", `--timestamp=${time}`, "--rm", container, "localhost/base");
    const settings = { BASE: "localhost/base", VERSION: version, REVISION: revision };
    const words = Object.entries(settings).map(([key, value]) => `--build-arg=${key}=${value}`);
    const file = join(tree, "Containerfile");
    // Only Docker's format has a health check; the OCI's is made from it.
    const common = ["--quiet", "--format=docker", "--layers=false", `--timestamp=${time}`, "--pull-never", ...words];
    buildah("bud", ...common, `--target=${target}`, `--file=${file}`, "--tag=localhost/image", tree);
    // A tag has no plus sign (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests).
    const reference = `localhost/${name}:${version.replaceAll("+", "_")}`;
    const layout = join(own, "layout");
    buildah("push", "--quiet", "--format=oci", "localhost/image", `oci:${layout}:${reference}`);
    const { Docker } = JSON.parse(buildah("inspect", "--type=image", "localhost/image")) as {
      readonly Docker: { readonly config: { readonly Healthcheck?: object } };
    };
    addForDocker(layout, reference, Docker.config.Healthcheck);
    const order = [
      "--sort=name",
      `--mtime=@${time}`,
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "--mode=u+rwX,go+rX",
    ];
    execFileSync("tar", ["--create", "--format=gnu", ...order, `--directory=${layout}`, `--file=${path}`, "."]);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Unpacks Debian packages and what they need into a folder, with the list of them that scanners of images read. */
function makeBase(folder: string, packages: readonly string[], time: string): void {
  const list = `for deb in "$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb --field "$deb"; printf 'Status: install ok installed\\n\\n'; done >"$1/var/lib/dpkg/status"`;
  const words = ["--variant=extract", `--extract-hook=${list}`, `--include=${packages.join(",")}`];
  execFileSync("mmdebstrap", ["--quiet", ...words, "bookworm", folder], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, SOURCE_DATE_EPOCH: time },
  });
  // The shell and the few programs of the scripts are busybox's: Debian's own need ten times their room.
  execFileSync("chroot", [folder, "/bin/busybox", "--install", "-s"]);
  writeFileSync(
    join(folder, "etc/passwd"),
    "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
  );
  writeFileSync(join(folder, "etc/group"), "root:x:0:\nnogroup:x:65534:\n");
  for (const unused of ["doc", "man", "locale", "lintian", "doc-base", "bug"])
    rmSync(join(folder, "usr/share", unused), { recursive: true, force: true });
  for (const name of readdirSync(join(folder, "dev"))) rmSync(join(folder, "dev", name), { recursive: true });
}

interface Descriptor {
  digest: string;
  size: number;
}

/**
 * Adds to an image in an OCI layout what Docker reads: the health check in its configuration, and manifest.json, without
 * which `docker load` takes it into the image store of containerd alone.
 */
function addForDocker(layout: string, reference: string, check: object | undefined): void {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), "utf8"));
  const blob = ({ digest }: Descriptor): string => `blobs/${digest.replace(":", "/")}`;
  const replace = (descriptor: Descriptor, content: object): void => {
    const text = JSON.stringify(content);
    rmSync(join(layout, blob(descriptor)));
    descriptor.digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
    descriptor.size = text.length;
    writeFileSync(join(layout, blob(descriptor)), text);
  };
  if (check === undefined) throw new Error("the image has no health check");
  const index = read("index.json") as { manifests: [Descriptor] };
  const manifest = read(blob(index.manifests[0])) as { config: Descriptor; layers: readonly Descriptor[] };
  const image = read(blob(manifest.config)) as { config: object };
  replace(manifest.config, { ...image, config: { ...image.config, Healthcheck: check } });
  replace(index.manifests[0], manifest);
  writeFileSync(join(layout, "index.json"), JSON.stringify(index));
  const forDocker = { Config: blob(manifest.config), RepoTags: [reference], Layers: manifest.layers.map(blob) };
  writeFileSync(join(layout, "manifest.json"), JSON.stringify([forDocker]));
}
