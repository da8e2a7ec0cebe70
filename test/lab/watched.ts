import { addressOf } from "#test/lab/addresses.ts";
import { packetFilter } from "#test/lab/configure.ts";
import { startServiceLab, type Lab, type Service, type ServiceOptions } from "#test/lab/lab.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { PLACES, type LabCall } from "#test/lab/services/product.ts";
import { startQueries, type Query } from "#test/lab/services/queries.ts";
import { shortenIntervals } from "#test/support/shorten-intervals.ts";
import { until } from "#test/support/until.ts";
import { LAB, REGIONS, type Region } from "#test/lab/topology.ts";

/** The locations of the lab's probes. */
export const EVERYWHERE = REGIONS.map((region) => PLACES[region].region);

/** A check as the database has it. */
interface StoredCheck {
  readonly location: string;
  readonly status: "up" | "down" | "unknown" | "degraded";
  readonly source: string | null;
}

/** An incident as the API shows it. */
export interface ShownIncident {
  readonly status: string;
  readonly cause: { readonly code: string; readonly message: string };
  readonly locations: readonly { readonly location: string; readonly error: { readonly message: string } | null }[];
}

/** A monitor as the API shows it. */
export interface ShownMonitor {
  readonly status: string;
  readonly advisory: { readonly locations: readonly string[]; readonly message: string } | null;
}

/** The product in the lab, with monitors. */
export interface WatchedLab extends Lab {
  readonly service: Service;
  readonly key: string;
  /** Creates a monitor of the target http://<host>:<port>/, checked every minute, and waits until it is up. */
  watch(url: string, settings?: object): Promise<number>;
  read(id: number): Promise<ShownMonitor>;
  incidents(id: number): Promise<readonly ShownIncident[]>;
  /** Requests a check now, at all locations. */
  run(id: number): Promise<void>;
  /** Runs a statement on the database and returns its rows. */
  readonly query: Query;
  /** Returns the types of a monitor's events, the oldest first. */
  events(id: number): Promise<readonly string[]>;
  /** Returns the checks of a monitor since a time, the oldest first. */
  checks(id: number, since: Date): Promise<readonly StoredCheck[]>;
  /** Reports whether the last change of a monitor's status was committed together with its check and an event. */
  isOneTransaction(id: number): Promise<boolean>;
  /** Starts an HTTP server that answers 200 in a node. */
  serve(node: string, port: number): Promise<Daemon>;
}

/** For calls that count against a key, and for programs that wait for each look. */
export const SOON = { interval: 500 };

/** `intervalSeconds`: length of all intervals; a minute if absent, which is the shortest that a plan allows. */
type WatchedOptions = ServiceOptions & { readonly intervalSeconds?: number };

/**
 * Waits until a monitor is up and was checked from all its locations, by the database: calls of the API have a limit. A
 * location can be behind the others, and its check must not run when the test changes the network.
 */
export async function untilUp(query: Query, id: number): Promise<void> {
  await until(async () => {
    const [row] = await query<{ isUp: boolean }>(`
      select status = 'up' and not exists (
        select from monitor_slots as s where s.monitor_id = t.monitor_id and (s.checked_at is null or s.lease <> 0)
      ) as "isUp" from monitor_states as t where monitor_id = ${id}`);
    return row?.isUp === true;
  }, `monitor ${id} is up`);
}

/** Starts the lab with the product. Call `close` in afterAll. */
export async function startWatchedLab({ intervalSeconds, ...options }: WatchedOptions = {}): Promise<WatchedLab> {
  const lab = await startServiceLab(options);
  const { network, service } = lab;
  const key = await service.plane.createKey();
  const call = (path: string, how: LabCall) => service.plane.call(path, how);
  const query = startQueries(network, service.databaseUrl);
  const read = async (id: number): Promise<ShownMonitor> =>
    (await call(`/api/v4/monitors?id=${id}`, { key })).body.data;
  if (intervalSeconds !== undefined) for (const statement of shortenIntervals(intervalSeconds)) await query(statement);
  return {
    ...lab,
    key,
    read,
    query,
    async watch(url, settings = {}) {
      const body = { url, check_type: "http", interval_minutes: 1, timeout_seconds: 2, locations: EVERYWHERE };
      const made = await call("/api/v4/monitors", { key, body: { ...body, ...settings } });
      if (made.status !== 201) throw new Error(made.text);
      const { id } = made.body.data as { id: number };
      await untilUp(query, id);
      return id;
    },
    async incidents(id) {
      return (await call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data;
    },
    async run(id) {
      const { status, text } = await call(`/api/v4/monitors?id=${id}&action=run`, { key, method: "POST" });
      if (status !== 202) throw new Error(text);
    },
    async events(id) {
      const rows = await query<{ type: string }>(
        `select type from events where monitor_id = ${id} order by created_at, id`,
      );
      return rows.map(({ type }) => type);
    },
    checks: (id, since) =>
      query<StoredCheck>(`
        select location, (array['up', 'down', 'unknown', 'degraded'])[status] as status,
          fault::jsonb ->> 'source' as source
        from checks where monitor_id = ${id} and checked_at >= '${since.toISOString()}' order by checked_at`),
    async isOneTransaction(id) {
      const [row] = await query<{ is: boolean }>(`
        select exists (select from checks as c where c.monitor_id = s.monitor_id and c.xmin = s.xmin)
          and exists (select from events as e where e.monitor_id = s.monitor_id and e.xmin = s.xmin) as is
        from monitor_status_changes as s where s.monitor_id = ${id} order by s.id desc limit 1`);
      return row?.is ?? false;
    },
    serve: (node, port) => {
      const program = `require("node:http").createServer((_request, response) => response.end("ok"))
        .listen(${port}, "${addressOf(LAB, node)}", () => console.log("ready"));`;
      return startDaemon(network, {
        node,
        command: [process.execPath, "-e", program],
        ready: "ready",
      });
    },
  };
}

/** Drops everything that a probe sends, except to the control plane. */
export async function isolate(lab: Lab, region: Region): Promise<void> {
  const rules = [`ip daddr ${addressOf(LAB, "hub")} accept`, "oif lo accept", "drop"];
  await lab.network.nft(`probe-${region}`, packetFilter("isolated", "output", rules));
}

/** Ends an isolation. */
export async function reconnect(lab: Lab, region: Region): Promise<void> {
  await lab.network.nft(`probe-${region}`, "delete table inet isolated\n");
}
