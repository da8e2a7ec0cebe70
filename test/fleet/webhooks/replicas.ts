import { freePort } from "#test/support/free-port.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";

/** The replicas of a run, by number. */
export interface Replicas {
  readonly count: number;
  /** Those that run. */
  running(): readonly ControlPlaneProcess[];
  /** Ends replicas with SIGKILL. */
  kill(numbers: readonly number[]): Promise<void>;
  /** Starts replicas again at their old ports, with more settings. */
  start(numbers: readonly number[], settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the log of every replica that has ended by itself. */
  crashed(): readonly string[];
  stop(): Promise<void>;
}

/** Starts the replicas. */
export async function startReplicas(
  databaseUrl: string,
  count: number,
  settings: Readonly<Record<string, string>>,
): Promise<Replicas> {
  const ports = await Promise.all(
    Array.from({ length: count }, async () => ({ http: await freePort(), grpc: await freePort() })),
  );
  const planes: (ControlPlaneProcess | null)[] = ports.map(() => null);
  const start: Replicas["start"] = async (numbers, more = {}) => {
    await Promise.all(
      numbers.map(async (number) => {
        const own = ports[number];
        if (own === undefined) throw new Error(`there is no replica ${number}`);
        planes[number] = await startControlPlaneProcess(databaseUrl, {
          settings: { ...settings, ...more },
          ports: own,
        });
      }),
    );
  };
  const running = () => planes.filter((plane) => plane !== null);
  const kill: Replicas["kill"] = async (numbers) => {
    const ending = numbers.flatMap((number) => planes[number] ?? []);
    for (const number of numbers) planes[number] = null;
    await Promise.all(ending.map((plane) => plane.end("SIGKILL")));
  };
  await start([...ports.keys()]);
  return {
    count,
    running,
    kill,
    start,
    crashed: () => running().flatMap((plane) => (isAlive(plane.pid) ? [] : plane.log().slice(-3_000))),
    stop: () => kill([...ports.keys()]),
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
