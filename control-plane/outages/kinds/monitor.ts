import type { CommonDraft, CommonSettings } from "#control-plane/outages/kinds/common.ts";
import type { CheckType, KindOptions } from "#control-plane/outages/kinds/kinds.ts";

/** The options of a monitor without secrets, under their names in the API; every option has a value. */
export interface MonitorSettings extends CommonSettings, KindOptions {}

/** A monitor as its user wrote it. */
export interface Monitor {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  /** As submitted; empty for a kind without a target, if its user notes none. */
  readonly url: string;
  readonly checkType: CheckType;
  readonly intervalMinutes: number;
  readonly isActive: boolean;
  /** plan: paused by the service after a downgrade; null otherwise. */
  readonly pausedReason: "plan" | null;
  readonly tags: readonly string[];
  /** Id of the monitor whose outage holds this one's notices back. */
  readonly dependsOn: number | null;
  readonly settings: MonitorSettings;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Everything that a user writes about a monitor, under its names in the API; every field has a value. */
export interface MonitorDraft extends CommonDraft, KindOptions {
  readonly check_type: CheckType;
}
