import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { promisify } from "node:util";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { findRawSocketProblem, readRawSocketFacts } from "#shared/client/raw-sockets.ts";
import { describeError } from "#shared/error-code.ts";
import { findChromium } from "#shared/process/chromium.ts";
import { ENOUGH_DESCRIPTORS, readDescriptorLimit } from "#shared/process/descriptor-limit.ts";
import { formatAddress } from "#shared/settings/address.ts";

/** ICMP and traceroute need the compiled addon and the right to open raw sockets. */
export function checkRawSockets({ searchPath }: Patient): Finding {
  const found = findRawSocketProblem(readRawSocketFacts(searchPath));
  if (found === null) return ok("raw sockets", "addon and right are there");
  return warn("raw sockets", `ICMP and traceroute are off: ${found.why}; ping uses TCP`, found.todo);
}

/** Whether a process started here may have enough connections open at once. */
export function checkDescriptors(): Finding {
  return judgeDescriptors(readDescriptorLimit());
}

/** The same for a limit of open files. */
export function judgeDescriptors(limit: number): Finding {
  if (limit >= ENOUGH_DESCRIPTORS) return ok("descriptors", `${limit} open files and sockets allowed`);
  return warn(
    "descriptors",
    `only ${limit} open files and sockets allowed: the control plane holds few connections`,
    `raise the limit to ${ENOUGH_DESCRIPTORS} or more (ulimit -Hn, LimitNOFILE= in systemd, --ulimit in docker)`,
  );
}

/** Whether names can be looked up, through the servers the agent would ask. */
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
      `example.com cannot be looked up through ${servers || "any server"} (${describeError(error)})`,
      "check the network and VANTAGE_DNS_SERVERS",
    );
  }
}

/** A year before this software was written means a clock that was never set; certificates would all look wrong. */
const FIRST_YEAR = 2026;

/** Whether the clock is plausible and kept in step. */
export async function checkClock({ now }: Patient): Promise<Finding> {
  if (now().getUTCFullYear() < FIRST_YEAR)
    return fail("clock", `it shows ${now().toISOString()}`, "set it and keep it in step (NTP)");
  try {
    const shown = await promisify(execFile)("timedatectl", ["show", "-p", "NTPSynchronized", "--value"], {
      timeout: 2_000,
    });
    if (shown.stdout.trim() === "no")
      return warn("clock", "it is not kept in step", "enable NTP (timedatectl set-ntp true)");
    if (shown.stdout.trim() === "yes") return ok("clock", "kept in step by NTP");
  } catch {
    // No systemd here, as in most containers: the host keeps the clock.
  }
  return ok("clock", `${now().toISOString()} (whether NTP keeps it cannot be seen from here)`);
}

/** Whether there is a browser for pictures. */
export function checkChromium({ settings, searchPath }: Patient): Finding {
  const found = findChromium(settings.chromium, searchPath);
  if (found !== null) return ok("chromium", found);
  if (settings.chromium !== null)
    return fail("chromium", `VANTAGE_CHROMIUM ${settings.chromium} cannot be run`, "correct the path");
  return warn(
    "chromium",
    "none on PATH: no pictures, no visual monitors, no page speed of its own",
    "install chromium or set VANTAGE_CHROMIUM",
  );
}
