import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { callService, field } from "#shared/client/call.ts";
import { useProxies } from "#shared/client/proxies.ts";
import type { Questions } from "#shared/client/up/helper.ts";
import type { Installation } from "#shared/client/up/helper/installation.ts";
import { joinToken } from "#shared/client/up/helper/join-token.ts";
import { welcome } from "#shared/client/up/helper/welcome.ts";
import { openSession } from "#shared/client/up/postgres/store.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import { readSettings, type Environment } from "#shared/settings/settings-parse.ts";

const OLDEST = 150_000;
const EVERY_MS = 100;

/** Returns the answers about the installation that an environment and a working directory describe. */
export function createAnswers(environment: Environment, directory: string): Omit<Questions, "createDatabase"> {
  useProxies(environment);
  const installation = readInstallation(environment, directory);
  return {
    checkDatabase: () => checkDatabase(installation.settings.databaseUrl ?? ""),
    awaitHealthy: () => awaitAnswer(`${installation.own}/healthz`, "ok").then(() => null),
    awaitReady: () => awaitAnswer(`${installation.own}/readyz`, "ready").then(readDegraded),
    joinToken: () => joinToken(installation),
    welcome: (started) => welcome(installation, started),
  };
}

/** Reads what the command has checked. */
function readInstallation(environment: Environment, directory: string): Installation {
  const read = readSettings(environment, "control-plane");
  const agent = readSettings(environment, "agent");
  if (!read.ok || !agent.ok) throw new Error("the settings have not been checked");
  const { settings } = read;
  return {
    environment,
    directory,
    dataDirectory: resolve(directory, settings.dataDir),
    settings,
    agentSettings: agent.settings,
    own: listenerUrl(settings.httpAddr, settings.tlsCert !== null),
  };
}

async function checkDatabase(url: string): Promise<{ ok: true } | Problem> {
  const session = openSession(url);
  try {
    const version = await session.version();
    if (version >= OLDEST) return { ok: true };
    return problem(
      `DATABASE_URL points to PostgreSQL ${Math.floor(version / 10_000)}: version 15 or later is required`,
    );
  } catch (error) {
    // The server's own message ("password authentication failed") helps more than its code.
    const said = error instanceof Error && error.name === "PostgresError" ? error.message : describeError(error);
    return problem(`DATABASE_URL cannot be used (${said}): check the address, the user and that PostgreSQL runs`);
  } finally {
    await session.close().catch(() => {});
  }
}

/** Waits until a health URL of the control plane's own listener answers with a status; returns the body. */
async function awaitAnswer(url: string, status: string): Promise<unknown> {
  for (;;) {
    const answer = await callService(url, { own: true, timeoutMs: 2_000 }).catch(() => null);
    if (answer?.status === 200 && field(answer.body, "status") === status) return answer.body;
    await sleep(EVERY_MS);
  }
}

function readDegraded(body: unknown): readonly string[] {
  const degraded = field(body, "degraded");
  return Array.isArray(degraded) ? degraded.map(String) : [];
}
