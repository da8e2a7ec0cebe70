import { fewSuites, helloOf, VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { ClientHello } from "#probe-agent/port/tls.ts";
import type { ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";

const QUESTION_MS = 5000;

/** Requests timestamps in the TLS extension, which Node's client never does. Returns null if there are none. */
export async function requestTimestamps(
  net: Net,
  { ip, port, servername }: ProbeTarget,
  reserveMs: number,
): Promise<Uint8Array | null | "unknown"> {
  const timeoutMs = Math.min(QUESTION_MS, net.remainingMs() - reserveMs);
  if (timeoutMs <= 0) return "unknown";
  const outcome = await net.tls.timestamps({ ...helloOfAll(servername), ip, port, timeoutMs });
  return outcome.status === "ok" ? outcome.data : "unknown";
}

/**
 * Groups offered: first those of our key shares, then others for servers of old versions. Stronger groups are omitted,
 * because some servers would request a key share for them.
 */
const GROUPS = [0x001d, 0x0017, 0x0018, 0x0019];

/** Creates one hello with all versions except SSL 3 and with common suites. */
function helloOfAll(servername: string | null): ClientHello {
  const offered = VERSIONS.slice(1).toReversed();
  const [newest] = offered;
  if (newest === undefined) throw new Error("no version is known");
  const suites = [...new Set(offered.flatMap(fewSuites))];
  const hello = helloOf(newest, servername, suites);
  const supportedVersions = offered.map(({ wire }) => wire);
  return { ...hello, supportedVersions, groups: GROUPS, renegotiationInfo: true };
}
