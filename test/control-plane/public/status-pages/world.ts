import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import {
  startControlPlane,
  type Answer,
  type ControlPlaneOptions,
  type TestControlPlane,
} from "#test/support/control-plane.ts";

/** Path of the endpoint. */
export const URL = "/api/v4/status";

/** An account with a key. */
export interface Owner {
  readonly accountId: number;
  readonly key: string;
}

/** A monitor to insert; missing fields are those of a monitor that is up. */
export interface TestMonitor {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly isActive?: boolean;
  readonly createdAt?: Date;
  readonly state?: Partial<MonitorState>;
  /** Seconds; null if it has no schedule. */
  readonly interval?: number | null;
  readonly checkedAt?: Date | null;
}

/** A control plane whose pages tests write and read. */
export interface PageWorld extends TestControlPlane {
  owner(): Promise<Owner>;
  /** Inserts a monitor that is never checked. */
  addMonitor(owner: Owner, monitor?: TestMonitor): Promise<number>;
  setState(id: number, state: Partial<MonitorState>): Promise<void>;
  post(owner: Owner, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  put(owner: Owner, id: number, body: object): Promise<Answer>;
  remove(owner: Owner, id: number): Promise<Answer>;
  /** Creates a page under a new slug. */
  createPage(owner: Owner, more?: object): Promise<{ readonly slug: string; readonly id: number }>;
  /** Creates a page with a monitor that is up. */
  createSimple(
    owner: Owner,
    more?: object,
  ): Promise<{ readonly slug: string; readonly id: number; readonly monitor: number }>;
  /** Reads a page by its slug from an address that nobody else has. */
  visit(slug: string, options?: { readonly key?: string; readonly headers?: Record<string, string> }): Promise<Answer>;
}

/** Starts a control plane. Call `stop` in afterAll. */
export async function startPageWorld(options: ControlPlaneOptions = {}): Promise<PageWorld> {
  const config = { trustedProxies: ["127.0.0.0/8"], ...options.config };
  const plane = await startControlPlane({ ...options, config });
  const { sql } = plane.app;
  let visitors = 0;
  let slugs = 0;
  const world: PageWorld = {
    ...plane,
    async owner() {
      const { body } = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
      const { account_id: accountId, key } = body.data as { account_id: number; key: string };
      return { accountId, key };
    },
    async addMonitor({ accountId }, monitor = {}) {
      const now = plane.app.clock.now();
      const { name = "shop-internal-7", tags = [], isActive = true, createdAt = now, interval = 60 } = monitor;
      const [row] = await sql<{ id: number }[]>`
        insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings,
          created_at, updated_at)
        values (${accountId}, ${name}, 'https://shop.example.com/', 'http', 1, ${isActive}, ${[...tags]}::text[],
          ${JSON.stringify({ ...DEFAULT_SETTINGS, locations: ["eu-west"] })}, ${createdAt}, ${now})
        returning id`;
      const id = row?.id ?? 0;
      const state = { ...NEW_STATE, status: "up" as const, ...monitor.state };
      // Never visited: the state has no checks behind it, so that a visit would find its results too old.
      await sql`
        insert into monitor_states (monitor_id, status, state, visit_at)
        values (${id}, ${state.status}, ${encodeState(state)}, null)`;
      if (interval === null || !isActive) return id;
      const { checkedAt = now } = monitor;
      // Due in a year, so that it is not checked.
      await sql`
        insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds,
          planned_at, due_at, checked_at, good_at)
        values (${id}, 'eu-west', ${accountId}, ${interval}, 0, 15, ${now}::timestamptz + interval '1 year',
          ${now}::timestamptz + interval '1 year', ${checkedAt}, ${checkedAt})`;
      return id;
    },
    async setState(id, given) {
      const state = { ...NEW_STATE, ...given };
      await sql`
        update monitor_states set status = ${state.status}, state = ${encodeState(state)} where monitor_id = ${id}`;
    },
    post: (owner, body, headers = {}) => plane.call(URL, { key: owner.key, body, headers }),
    put: (owner, id, body) => plane.call(`${URL}?id=${id}`, { method: "PUT", key: owner.key, body }),
    remove: (owner, id) => plane.call(`${URL}?id=${id}`, { method: "DELETE", key: owner.key }),
    async createPage(owner, more = {}) {
      slugs += 1;
      const answer = await world.post(owner, { title: "Shop", slug: `visited-${slugs}`, ...more });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.data;
    },
    async createSimple(owner, more = {}) {
      const monitor = await world.addMonitor(owner);
      return { monitor, ...(await world.createPage(owner, { monitors: [{ id: monitor, name: "Shop" }], ...more })) };
    },
    visit(slug, { key, headers = {} } = {}) {
      visitors += 1;
      const from = `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`;
      return plane.call(`${URL}?slug=${encodeURIComponent(slug)}`, {
        ...(key === undefined ? {} : { key }),
        headers: { "x-forwarded-for": from, ...headers },
      });
    },
  };
  return world;
}

/** Returns the status, the code, the field and the reason of an error answer. */
export function errorOf({ status, body }: Answer): readonly unknown[] {
  return [status, body.error["code"], body.error["field"], body.error["reason"]];
}
