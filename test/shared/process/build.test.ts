import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readBuild, registerBuildInfo } from "#shared/process/build.ts";
import { ROOT } from "#test/laws/source-files.ts";

let folder: string;
let clone: string;
let commit: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "vantage-build-")));
  clone = join(folder, "clone");
  git(folder, "init", "-q", "-b", "topic/one", clone);
  writeFileSync(join(clone, "package.json"), '{"version": "1.2.3", "homepage": "https://vantage.example"}');
  git(clone, "add", "package.json");
  git(clone, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "t");
  commit = git(clone, "rev-parse", "HEAD");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(cwd: string, ...words: readonly string[]): string {
  // The user's own configuration must not decide how the repository is stored.
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", words, { cwd, env, encoding: "utf8" }).trim();
}

it("reads version, commit and Node of a clone", () => {
  expect(commit).toMatch(/^[0-9a-f]{40}$/);
  const known = { version: "1.2.3", homepage: "https://vantage.example", node: process.version };
  expect(readBuild(clone)).toEqual({ ...known, revision: commit });
});

it("reads the commit of a linked worktree, of packed references and of a detached HEAD", () => {
  const worktree = join(folder, "linked");
  git(clone, "worktree", "add", "-q", "-b", "topic/two", worktree);
  expect(readBuild(worktree).revision).toBe(commit);
  git(clone, "pack-refs", "--all");
  expect([readBuild(clone).revision, readBuild(worktree).revision]).toEqual([commit, commit]);
  git(clone, "checkout", "-q", "--detach");
  expect(readBuild(clone).revision).toBe(commit);
});

it("returns unknown without a git directory, or with one that it cannot read", () => {
  const copy = join(folder, "copy");
  cpSync(join(clone, "package.json"), join(copy, "package.json"));
  expect(readBuild(copy).revision).toBe("unknown");
  writeFileSync(join(copy, ".git"), "gitdir: nowhere\n");
  expect(readBuild(copy).revision).toBe("unknown");
  rmSync(join(copy, ".git"));
  cpSync(join(clone, ".git"), join(copy, ".git"), { recursive: true });
  writeFileSync(join(copy, ".git/HEAD"), "ref: refs/heads/none\n");
  expect(readBuild(copy).revision).toBe("unknown");
});

it("publishes this clone's build as a metric that is always 1", async () => {
  const registry = new Registry();
  const build = readBuild();
  registerBuildInfo(registry, build);
  const { version } = (await import(join(ROOT, "package.json"), { with: { type: "json" } })) as { version: string };
  expect(build.version).toBe(version);
  expect(await registry.metrics()).toContain(
    `vantage_build_info{version="${version}",revision="${build.revision}",node="${process.version}"} 1`,
  );
});
