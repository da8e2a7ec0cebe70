import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";
import { VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HopTls } from "#probe-agent/port/http.ts";
import { createProber, type ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";
import { probeVersion } from "#probe-agent/tools/ssl/versions.ts";

type Tls = NonNullable<ResultOf<typeof protocol>["tls"]>;

/** Maximum number of connections: three hellos for each version (common suites, rare ones, a short hello). */
const CONNECTIONS = 3 * VERSIONS.length;
const BUDGET_MS = 6000;
const QUESTION_MS = 3000;

/** Describes the session, and probes all other versions with one ClientHello each. */
export async function probeTls(
  net: Net,
  target: ProbeTarget,
  { protocol: negotiated, cipher, group, authorized, error }: HopTls,
): Promise<{ readonly tls: Tls; readonly limitations: readonly string[] }> {
  const until = net.monotonic() + Math.min(BUDGET_MS, net.remainingMs() / 2);
  const bounds = { connections: CONNECTIONS, until, questionMs: QUESTION_MS, usualMs: QUESTION_MS };
  const prober = createProber(net, target, bounds);
  const seen = await Promise.all(
    VERSIONS.map(async (version) => {
      const offered = version.name === negotiated || (await probeVersion(prober, version)).offered;
      return { ...version, offered };
    }),
  );
  const versions = Object.fromEntries(seen.map(({ key, offered }) => [key, offered])) as Tls["versions"];
  const limitations = seen.flatMap(({ label, offered }) =>
    offered === null ? [`Whether the server accepts ${label} could not be determined.`] : [],
  );
  return { tls: { versions, protocol: negotiated, cipher, group, authorized, error }, limitations };
}
