import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY, EXPORTER_MEMORY } from "#shared/client/process-memory.ts";
import { SETTING_ROWS } from "#shared/settings/settings-parse.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const INSTALLED = "/opt/vantage";
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

/** Returns the directives of a unit's [Service], each with its values in order. */
function serviceOf(text: string): Map<string, string[]> {
  const section = text.split(/^\[(\w+)\]$/m);
  const lines = (section[section.indexOf("Service") + 1] ?? "").split("\n").filter((line) => /^\w+=/.test(line));
  const directives = new Map<string, string[]>();
  for (const line of lines) {
    const name = line.slice(0, line.indexOf("="));
    directives.set(name, [...(directives.get(name) ?? []), line.slice(name.length + 1)]);
  }
  return directives;
}

const MEMORY = {
  "vantage-agent": AGENT_MEMORY,
  "vantage-exporter": EXPORTER_MEMORY,
  "vantage-control-plane": CONTROL_PLANE_MEMORY,
};
const UNITS = ["vantage-agent", "vantage-exporter", "vantage-control-plane"] as const;
const read = (unit: string) => readFileSync(join(ROOT, "deploy/systemd", `${unit}.service`), "utf8");

describe.each(UNITS)("%s.service", (unit) => {
  const text = read(unit);
  const service = serviceOf(text);

  it("runs as a separate user that cannot gain privileges", () => {
    const hardened = {
      DynamicUser: "yes",
      NoNewPrivileges: "yes",
      ProtectSystem: "strict",
      ProtectHome: "yes",
      PrivateTmp: "yes",
      PrivateDevices: "yes",
      ProtectKernelModules: "yes",
      ProtectKernelTunables: "yes",
      ProtectControlGroups: "yes",
      RestrictSUIDSGID: "yes",
      LockPersonality: "yes",
      SystemCallArchitectures: "native",
      UMask: "0077",
      RestrictAddressFamilies: "AF_INET AF_INET6 AF_UNIX AF_NETLINK",
    };
    for (const [name, value] of Object.entries(hardened)) expect(service.get(name), name).toEqual([value]);
    // V8 writes the machine code that it runs.
    expect(service.has("MemoryDenyWriteExecute")).toBe(false);
  });

  it("sets memory as the launcher does", () => {
    const memory = MEMORY[unit];
    const given = Object.entries(memory).map(([name, value]) => `${name}=${value}`);
    const set = service.get("Environment")?.filter((line) => /^(NODE_OPTIONS|MALLOC_)/.test(line));
    expect(set).toEqual(given);
  });

  it("has CAP_NET_RAW if it pings, else no capability", () => {
    const rights = unit === "vantage-control-plane" ? [""] : ["CAP_NET_RAW"];
    expect(service.get("AmbientCapabilities")).toEqual(rights);
    expect(service.get("CapabilityBoundingSet")).toEqual(rights);
    // In a user namespace the capability would have no effect.
    expect(service.has("PrivateUsers")).toBe(unit === "vantage-control-plane");
  });

  it("starts an existing program with existing settings", () => {
    const [, program = ""] = (service.get("ExecStart")?.[0] ?? "").split(" ");
    expect(program.startsWith(`${INSTALLED}/`)).toBe(true);
    expect(existsSync(join(ROOT, program.slice(INSTALLED.length)))).toBe(true);
    const known = new Set(SETTING_ROWS.map((row) => row.name));
    for (const [name] of text.matchAll(/\bVANTAGE_[A-Z_]*[A-Z]\b/g)) expect(known, name).toContain(name);
    const state = `%S/${service.get("StateDirectory")?.[0]}`;
    expect(service.get("Environment")).toContain(`VANTAGE_DATA_DIR=${state}`);
  });

  it("allows the time that it needs to stop", () => {
    expect(service.get("KillMode")).toEqual(["mixed"]);
    expect(Number(service.get("TimeoutStopSec")?.[0])).toBeGreaterThan(unit === "vantage-agent" ? 30 : 15);
    expect(service.get("Restart")).toEqual(["on-failure"]);
  });

  it.skipIf(!hasSystemd)("is valid for systemd, with a good security rating", () => {
    const folder = mkdtempSync(join(tmpdir(), "vantage-unit-"));
    try {
      const file = join(folder, `${unit}.service`);
      writeFileSync(file, text.replaceAll(`${INSTALLED}/node_modules/.bin/node`, `"${process.execPath}"`));
      const verified = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
      expect(verified.status).toBe(0);
      // systemd only warns about unknown directives.
      expect(verified.stderr).not.toContain(unit);
      const rated = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=25", file]);
      expect(rated.status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
