import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { stateDirOf } from "#shared/agent-state.ts";
import { readRawSocketFacts } from "#shared/client/raw-sockets.ts";
import { adminTokenFile, readAdminToken } from "#shared/client/up/admin-token.ts";
import { makeFirstKey } from "#shared/client/up/first-key.ts";
import { searchPathOf } from "#shared/process/chromium.ts";
import { greet } from "#shared/client/up/greeting.ts";
import { describeIcmp, readCapabilities } from "#shared/client/up/icmp-note.ts";
import type { Ground } from "#shared/client/up/options.ts";

/** Creates the first key if there is none and prints how to use the service at `own`. */
export async function sayWelcome(
  ground: Ground,
  own: string,
  logs: Readonly<Record<string, string>>,
  degraded: readonly string[],
): Promise<void> {
  const { settings, agentSettings, directory, environment, dataDirectory, database, say } = ground;
  const tokenFile = adminTokenFile(dataDirectory);
  const masterKeyFile = join(dataDirectory, "master-key");
  const token = readAdminToken(settings, dataDirectory);
  const firstKey = token === null ? null : await makeFirstKey(own, token).catch(() => null);
  const stateDir = resolve(directory, stateDirOf({ ...agentSettings, dataDir: dataDirectory }));
  const can = token === null ? null : await readCapabilities({ base: own, adminToken: token, stateDir });
  const notes = [...database.notes];
  if (degraded.includes("agents")) notes.push(`No agent has attached yet: see ${logs["agent"]}.`);
  if (can !== null)
    notes.push(...describeIcmp(can, readRawSocketFacts(searchPathOf(environment["PATH"])), logs["agent"] ?? ""));
  if (settings.allowTargets !== null)
    notes.push(`Every user of this service can reach ${settings.allowTargets.join(", ")} (VANTAGE_ALLOW_TARGETS).`);
  say(
    greet({
      baseUrl: settings.baseUrl ?? own,
      adminTokenFile: settings.adminToken === null ? tokenFile : null,
      masterKeyFile: settings.databaseUrl !== null && existsSync(masterKeyFile) ? masterKeyFile : null,
      firstKey,
      logFiles: Object.values(logs),
      notes,
    }),
  );
}
