import { createAccount } from "#test/support/audit.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

/** Path of the endpoint. */
export const URL = "/api/v4/monitors";

/** Fields of a monitor that can be created. */
export const BODY = { url: "https://example.com/health", locations: ["eu-west"] };

/** A monitor as the API shows it. */
export interface Monitor {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** A replica with agents at eu-west and us-east, and an account that writes monitors; `as` is the key of another. */
export interface MonitorsWorld extends MonitorService {
  readonly accountId: number;
  readonly key: string;
  /** Creates a monitor that has to be accepted. */
  create(body?: object, as?: string): Promise<Monitor>;
  read(id: number, as?: string): Promise<Monitor>;
  change(id: number, body: object, as?: string): Promise<Answer>;
  remove(id: number, as?: string): Promise<Answer>;
}

/** Starts a world. Call `stop` in afterAll. */
export async function startMonitorsWorld(): Promise<MonitorsWorld> {
  const service = await startMonitorService({ plans: WIDE_PLANS });
  const { call } = service;
  service.attach("eu-west", { location: { region: "eu-west", city: "Berlin", country: "DE", asn: 1, tags: [] } });
  service.attach("us-east", { location: { region: "us-east", city: "", country: "US", asn: 2, tags: [] } });
  const { id: accountId, key } = await createAccount(service);
  return {
    ...service,
    accountId,
    key,
    create: (body = BODY, as = key) => createMonitor(service, as, body),
    read: async (id, as = key) => (await call(`${URL}?id=${id}`, { key: as })).body.data,
    change: (id, body, as = key) => call(`${URL}?id=${id}`, { method: "PUT", key: as, body }),
    remove: (id, as = key) => call(`${URL}?id=${id}`, { method: "DELETE", key: as }),
  };
}
