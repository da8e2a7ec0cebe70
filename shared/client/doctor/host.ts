import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { statfsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { findRawSocketProblem, readRawSocketFacts } from "#shared/client/raw-sockets.ts";
import { usableMemory } from "#shared/client/up/postgres/settings.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { browserAccount, findChromium, whyNoSandbox } from "#shared/process/chromium.ts";
import { ENOUGH_DESCRIPTORS, readDescriptorLimit } from "#shared/process/descriptor-limit.ts";
import { formatAddress } from "#shared/settings/address.ts";

const MB = 1_000_000;
/** PostgreSQL stops when its disk is full, and a checkpoint needs some room. */
const FULL_BYTES = 200 * MB;
const SCARCE_BYTES = 1_000 * MB;
/** Files that can still be made on a file system with a fixed number of them. */
const FEW_FILES = 1_000;

/** Checks the room of the data directory, or its nearest existing ancestor, and of the backups. */
export function checkDisk({ settings, dataDirectory, directory }: Patient): Finding[] {
  const named: (readonly [string, string])[] = [["VANTAGE_DATA_DIR", dataDirectory]];
  if (settings.backupDir !== null) named.push(["VANTAGE_BACKUP_DIR", resolve(directory, settings.backupDir)]);
  return named.map(([name, path]) => {
    let existing = path;
    while (existing !== "/" && statSync(existing, { throwIfNoEntry: false }) === undefined)
      existing = resolve(existing, "..");
    const { bavail, bsize, ffree, files } = statfsSync(existing);
    return rateDisk(`${name} ${path}`, { bytes: bavail * bsize, files: files === 0 ? Infinity : ffree });
  });
}

/** Rates the room of a place. `files`: number of files that can still be made. */
export function rateDisk(place: string, { bytes, files }: { readonly bytes: number; readonly files: number }): Finding {
  const todo = "remove files from its disk (df -h, df -i), or set it to a directory of a larger one";
  if (files < FEW_FILES) return fail("disk", `${place}: only ${files} more files can be made`, todo);
  const free = `${Math.floor(bytes / MB)} MB are free`;
  if (bytes < FULL_BYTES) return fail("disk", `${place}: only ${free}`, todo);
  return bytes < SCARCE_BYTES ? warn("disk", `${place}: only ${free}`, todo) : ok("disk", `${place}: ${free}`);
}

/** Control plane, embedded PostgreSQL and an agent take 250 MB when idle, and twice that with work. */
const ENOUGH_MEMORY = 512 * MB;

/** Checks the memory of this host, or of its container. */
export function checkMemory(): Finding {
  return rateMemory(usableMemory());
}

/** Rates an amount of memory, bytes. */
export function rateMemory(bytes: number): Finding {
  const has = `${Math.floor(bytes / MB)} MB`;
  if (bytes >= ENOUGH_MEMORY) return ok("memory", has);
  return warn(
    "memory",
    `only ${has}: processes can be ended while they work`,
    "give the host or the container 512 MB or more (MemoryMax= in systemd, --memory in docker)",
  );
}

/** Checks for the compiled addon and for CAP_NET_RAW, which ICMP and traceroute need. */
export function checkRawSockets({ searchPath }: Patient): Finding {
  const found = findRawSocketProblem(readRawSocketFacts(searchPath));
  if (found === null) return ok("raw sockets", "the addon is built and CAP_NET_RAW is granted");
  return warn("raw sockets", `ICMP and traceroute are off: ${found.why}; ping uses TCP`, found.todo);
}

/** Checks the limit of open files of processes started here. */
export function checkDescriptors(): Finding {
  return rateDescriptorLimit(readDescriptorLimit());
}

/** Rates a limit of open files. */
export function rateDescriptorLimit(limit: number): Finding {
  if (limit >= ENOUGH_DESCRIPTORS) return ok("descriptors", `${limit} open files and sockets allowed`);
  return warn(
    "descriptors",
    `only ${limit} open files and sockets allowed: the control plane can hold few connections`,
    `raise the limit to ${ENOUGH_DESCRIPTORS} or more (ulimit -Hn, LimitNOFILE= in systemd, --ulimit in docker)`,
  );
}

/** Checks that the agent's name servers resolve a name. */
export async function checkDns({ settings }: Patient): Promise<Finding> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (settings.dnsServers !== null) resolver.setServers(settings.dnsServers.map(formatAddress));
  const servers = resolver.getServers().join(", ");
  try {
    await resolver.resolve4("example.com");
    return ok("dns", `${servers} answers`);
  } catch (error) {
    return warn(
      "dns",
      `lookup of example.com through ${servers || "any server"} failed (${describeError(error)})`,
      "check the network and VANTAGE_DNS_SERVERS",
    );
  }
}

/** An earlier year means a clock that was never set; every certificate would seem not yet valid. */
const FIRST_YEAR = 2026;

/** Checks that the clock is plausible and synchronized. */
export async function checkClock({ now }: Patient): Promise<Finding> {
  if (now().getUTCFullYear() < FIRST_YEAR)
    return fail("clock", `the clock shows ${now().toISOString()}`, "set the clock and enable NTP");
  try {
    const shown = await promisify(execFile)("timedatectl", ["show", "-p", "NTPSynchronized", "--value"], {
      timeout: 2_000,
    });
    if (shown.stdout.trim() === "no")
      return warn("clock", "the clock is not synchronized", "enable NTP (timedatectl set-ntp true)");
    if (shown.stdout.trim() === "yes") return ok("clock", "synchronized by NTP");
  } catch {
    // No systemd, as in most containers: the host synchronizes the clock.
  }
  return ok("clock", `${now().toISOString()} (synchronization by NTP unknown)`);
}

/** Checks for a browser. */
export function checkChromium({ settings, searchPath }: Patient): Finding {
  const found = findChromium(settings.chromium, searchPath);
  const account = browserAccount();
  if (found !== null) {
    const why = whyNoSandbox(found, account, searchPath);
    if (why === null) return ok("chromium", account === null ? found : `${found}, as the user nobody`);
    return warn("chromium", `${found} is not used: ${why}`, "do this, and start the agent again");
  }
  if (settings.chromium !== null)
    return fail("chromium", `VANTAGE_CHROMIUM ${settings.chromium} cannot be run`, "correct the path");
  return warn(
    "chromium",
    "none on PATH: no screenshots, no visual monitors, no pagespeed measurements by the agent",
    "install chromium or set VANTAGE_CHROMIUM",
  );
}
