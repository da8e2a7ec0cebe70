import type { HourlyLatency } from "#control-plane/outages/history/read/latency.ts";
import type { PageLook } from "#control-plane/public/status-pages/look.ts";
import type { Month } from "#control-plane/public/status-pages/read/month.ts";

/** A monitor's status on a page. Maintenance hides what the monitor reports while it lasts. */
export type ShownStatus = "up" | "degraded" | "down" | "maintenance" | "unknown";

/** The status of everything on a page (overall-status.ts). */
export type OverallStatus =
  | "operational"
  | "degraded_performance"
  | "partial_outage"
  | "major_outage"
  | "under_maintenance"
  | "unknown";

/** A UTC day of one monitor. */
export interface ShownDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** Percent with three decimals, unknown time and maintenance left out; null if nothing is known about the day. */
  readonly uptime: number | null;
  /** Seconds in which it was down outside maintenance. */
  readonly downSeconds: number;
  /** Seconds of maintenance. */
  readonly maintenanceSeconds: number;
}

/** A monitor on a page. */
export interface ShownMonitor {
  readonly id: number;
  /** The name on this page. */
  readonly name: string;
  readonly status: ShownStatus;
  /** Of the newest successful check; null if there is none, for example for heartbeats. */
  readonly responseTimeMs: number | null;
  /** Of the last 90 days, percent with three decimals; null: no time is known. */
  readonly uptime90: number | null;
  /** The last 90 UTC days, oldest first, today last. */
  readonly days: readonly ShownDay[];
  /** When its settings or its status last changed, apart from maintenance. */
  readonly changedAt: Date;
}

/** A message to visitors about an incident. */
export interface ShownUpdate {
  readonly id: number;
  readonly at: Date;
  readonly status: "investigating" | "identified" | "monitoring" | "resolved";
  /** Plain text; can have several lines. */
  readonly text: string;
}

/** A public incident of a page's monitors, or one that a person opened for the page. */
export interface ShownIncident {
  readonly id: number;
  readonly title: string;
  readonly status: ShownUpdate["status"];
  readonly impact: "none" | "minor" | "major" | "critical" | "maintenance";
  readonly startedAt: Date;
  /** null while it is open. */
  readonly resolvedAt: Date | null;
  readonly durationSeconds: number;
  /** Those of its monitors that are on the page. */
  readonly monitorIds: readonly number[];
  /** Whether it is an outage, not something that a person opened. */
  readonly isOutage: boolean;
  /** Locations from which it was observed; none if the page does not show causes. */
  readonly regions: readonly string[];
  /** One sentence, without facts about the target if the page does not show causes; null: opened by a person. */
  readonly cause: string | null;
  /** Public ones, newest first. */
  readonly updates: readonly ShownUpdate[];
}

/** A public maintenance window that concerns a page's monitors. */
export interface ShownMaintenance {
  readonly id: number;
  readonly title: string;
  readonly status: "scheduled" | "in_progress" | "completed";
  /** Of the occurrence that runs now, else of the next one, else of the last one. */
  readonly startsAt: Date;
  readonly endsAt: Date;
  /** When visitors were informed of it. */
  readonly announcedAt: Date;
  readonly monitorIds: readonly number[];
}

/** Monitors under one heading. */
export interface ShownGroup {
  /** null: the monitors without a group, which come first. */
  readonly name: string | null;
  readonly monitors: readonly ShownMonitor[];
}

/** Everything that a page shows. HTML, feeds, badge, summary and the JSON of the API are renderings of it. */
export interface PageView extends PageLook {
  readonly title: string;
  readonly slug: string;
  /** Address of the page without a slash at its end: its own domain if it has one, else under this service. */
  readonly url: string;
  /** Plain text below the title; null: none. */
  readonly description: string | null;
  /** Plain text at the end; null: none. */
  readonly footer: string | null;
  /** http or https address of the site that the page is about; null: none. */
  readonly homepageUrl: string | null;
  readonly overallStatus: OverallStatus;
  /** Every monitor once, in the order of the page. */
  readonly groups: readonly ShownGroup[];
  /**
   * Of the last 14 days, 20 at most, newest first. Open ones are always among them, without outages of monitors in
   * maintenance.
   */
  readonly incidents: readonly ShownIncident[];
  /** In progress and scheduled for the next 14 days, and those of the last 14 days; the earliest first. */
  readonly maintenance: readonly ShownMaintenance[];
  /** Set if the newest observation is too old to be trusted: when that was; `at` is null if there was never one. */
  readonly stale: { readonly at: Date | null } | null;
  /** Response times of its monitors, without their locations; null: the page does not show them. */
  readonly responses: HourlyLatency | null;
  /** Whether visitors can subscribe by mail. */
  readonly canSubscribe: boolean;
  /** When the settings of the page last changed. */
  readonly changedAt: Date;
  /** Beginning of the newest check of its active monitors; null if there is none. */
  readonly checkedAt: Date | null;
  /**
   * When this view was made. No form of the page shows it: a copy of a page that has not changed would differ from the
   * page, and so would the pages of two replicas.
   */
  readonly generatedAt: Date;
}

/** A month of a page's archive. */
export interface ShownArchive {
  readonly month: Month;
  /** Those that began in the month, newest first, each with its newest update only. */
  readonly incidents: readonly ShownIncident[];
  /** Past occurrences that began in the month, newest first. */
  readonly maintenance: readonly ShownMaintenance[];
  /** Whether older ones of the month are left out: it has more than 100 of a kind. */
  readonly isCut: boolean;
}

/** An incident on its own page. */
export interface IncidentView {
  readonly view: PageView;
  readonly incident: ShownIncident;
  /** Month of the archive that lists it, YYYY-MM; null: the archive does not have it. */
  readonly month: string | null;
  readonly generatedAt: Date;
}

/** A month on its own page. */
export interface ArchiveView {
  readonly view: PageView;
  readonly archive: ShownArchive;
  readonly generatedAt: Date;
}
