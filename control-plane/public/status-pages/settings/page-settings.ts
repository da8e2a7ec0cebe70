import type { StoredOf } from "#control-plane/http/resource.ts";
import type { PageLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import type { statusPage } from "#control-plane/public/status-pages/settings/resource.ts";

/** A monitor as its page lists it. */
export interface PageMonitor {
  readonly id: number;
  /** Name on the page; null: that of the monitor. */
  readonly name: string | null;
}

/** Monitors of a page under one heading. */
export interface PageGroup {
  readonly name: string;
  /** In the order of the group; each is a monitor of the page and in no other group. */
  readonly monitorIds: readonly number[];
}

/** A status page as its user wrote it. */
export interface PageSettings extends StoredOf<typeof statusPage> {
  /** Its content is stored apart (logos/store.ts). */
  readonly logo: PageLogo | null;
  readonly monitors: readonly PageMonitor[];
  readonly groups: readonly PageGroup[];
}

/**
 * How far the verification of a domain is: its record is looked for, or another page has the domain; was found, so that the
 * domain serves the page; was not found for a day.
 */
export type DomainState = "pending" | "verified" | "failed";

/** A stored status page. */
export interface StatusPage extends PageSettings {
  readonly id: number;
  readonly accountId: number;
  /** null if it has no domain. */
  readonly domainState: DomainState | null;
  /** Part of the record that verifies the domain. */
  readonly domainToken: string;
  /** When the record of its verified domain was first missed; null if it stands, or was never missed. */
  readonly domainMissingSince: Date | null;
  /** Whether another page has verified the domain that this one claims. */
  readonly isDomainTaken: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
