import type { PageLogo } from "#control-plane/public/status-pages/logos/logo.ts";

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
export interface PageSettings {
  readonly title: string;
  /** Part of the page's address. */
  readonly slug: string;
  readonly description: string | null;
  readonly footer: string | null;
  /** http or https address of the site that the page is about; null: none. */
  readonly homepageUrl: string | null;
  /** #rrggbb in lower case; null: the colour of the service. */
  readonly accentColor: string | null;
  /** Its content is stored apart (logos/store.ts). */
  readonly logo: PageLogo | null;
  /** Whether everybody can see it; else only the account. */
  readonly isPublic: boolean;
  /** Host name in lower case under which the page is served too. */
  readonly domain: string | null;
  /** Whether visitors read the causes of outages, and the locations that saw them. */
  readonly showCauses: boolean;
  /** Whether outages of its monitors are incidents of the page; the states of the monitors are shown anyhow. */
  readonly autoIncidents: boolean;
  /** Minutes from the confirmation of an outage until it is an incident of the page. */
  readonly autoIncidentsAfterMinutes: number;
  /** Whether visitors see the response times of the last day as graphs. */
  readonly responseGraph: boolean;
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
  /** null: it has no domain. */
  readonly domainState: DomainState | null;
  /** Part of the record that verifies the domain. */
  readonly domainToken: string;
  /** When the record of its verified domain was first missed; null: it stands, or was never missed. */
  readonly domainMissingSince: Date | null;
  /** Whether another page has verified the domain that this one claims. */
  readonly isDomainTaken: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Maximum number of monitors of a page. */
export const MOST_MONITORS = 200;
/** Default and maximum of autoIncidentsAfterMinutes. */
export const INCIDENT_MINUTES = { default: 2, most: 1_440 } as const;
/** Maximum number of characters of the address of the site that a page is about. */
export const MOST_HOMEPAGE = 2_000;
/** Maximum number of groups of a page. */
export const MOST_GROUPS = 50;
/** Maximum number of characters of a title, and of the name of a monitor or a group. */
export const MOST_NAME = 200;
/** Maximum number of characters of the description. */
export const MOST_DESCRIPTION = 1_000;
/** Maximum number of characters of the footer. */
export const MOST_FOOTER = 500;
