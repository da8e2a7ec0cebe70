import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CONTROL_PLANE_MEMORY } from "#shared/client/process-memory.ts";
import { COMPILED_CODE } from "#test/support/compiled-code.ts";
import { freePort } from "#test/support/free-port.ts";
import { ADMIN_TOKEN, apiOf, type TestControlPlane } from "#test/support/control-plane.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { WIDE_LIMITS } from "#test/support/wide-plans.ts";

const ENTRY = fileURLToPath(new URL("../../control-plane/main.ts", import.meta.url));

/** A control plane in a separate process. */
export interface ControlPlaneProcess extends Pick<TestControlPlane, "call" | "operate" | "createKey"> {
  readonly pid: number;
  readonly url: string;
  readonly grpcPort: number;
  /** Returns everything it has logged. */
  log(): string;
  /** Sends a signal and resolves with its exit status, null after SIGKILL. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

/** Settings of the control plane, and flags of its Node. */
export interface ProcessOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Ports to listen on, for a replica that is started again; default: free ones. */
  readonly ports?: { readonly http: number; readonly grpc: number };
}

/** Starts a replica on this database and waits until it listens. */
export async function startControlPlaneProcess(
  databaseUrl: string,
  { settings, flags = [], ports }: ProcessOptions = {},
): Promise<ControlPlaneProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), "vantage-control-plane-"));
  const plans = join(dataDir, "plans.json");
  const { requestsPerMinute, requestsPerDay } = WIDE_LIMITS;
  const captain = { requests_per_minute: requestsPerMinute, requests_per_day: requestsPerDay };
  writeFileSync(plans, JSON.stringify({ captain }));
  const { http, grpc } = ports ?? { http: await freePort(), grpc: await freePort() };
  const child = spawn(process.execPath, [...flags, ENTRY], {
    env: {
      PATH: process.env["PATH"],
      ...CONTROL_PLANE_MEMORY,
      ...COMPILED_CODE,
      DATABASE_URL: databaseUrl,
      VANTAGE_HTTP_ADDR: `127.0.0.1:${http}`,
      VANTAGE_GRPC_ADDR: `127.0.0.1:${grpc}`,
      VANTAGE_METRICS_ADDR: "off",
      VANTAGE_DATA_DIR: dataDir,
      VANTAGE_PLANS: plans,
      VANTAGE_ADMIN_TOKEN: ADMIN_TOKEN,
      VANTAGE_MASTER_KEY: MASTER_KEY.toString("base64"),
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let isListening = false;
  const listening = Promise.withResolvers<void>();
  const listen = (chunk: Buffer) => {
    output += chunk.toString();
    // Searched only until it is found, because the log of a long run is long.
    isListening ||= output.includes("control plane listening");
    if (isListening) listening.resolve();
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  void exited.then(() => listening.reject(new Error(`control plane ended before it listened: ${output}`)));
  listening.promise.catch(() => {});
  await listening.promise;
  const url = `http://127.0.0.1:${http}`;
  return {
    ...apiOf(url),
    pid: child.pid ?? 0,
    url,
    grpcPort: grpc,
    log: () => output,
    async end(signal) {
      child.kill(signal);
      const code = await exited;
      rmSync(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}
