import type { DayTable } from "#control-plane/core/database/partitions/days.ts";
import { ATTEMPTS } from "#control-plane/notify/deliveries/deliveries.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";

// Every table of the database, backed up or not. The names of a backup's tables are compared with these: none of them comes
// from a file. A test holds that no table of the migrations is missing. A table that a migration drops stays here, because
// older backups have it.

/** Tables that a backup contains, in its order. */
export const BACKED_UP: readonly string[] = [
  "instance",
  "authority",
  "accounts",
  "account_changes",
  "audit_secrets",
  "keys",
  "users",
  "members",
  "probes",
  "join_tokens",
  "measurements",
  "measurement_locations",
  "measurement_events",
  "batches",
  "batch_targets",
  "observations",
  // Who repeats a write of before the backup gets its answer, and no second resource.
  "idempotent_answers",
  "monitors",
  "monitor_states",
  "monitor_slots",
  "monitor_baselines",
  "monitor_status_changes",
  "composite_members",
  "composite_wakes",
  "checks",
  "check_hours",
  "check_days",
  "monitor_days",
  "history_progress",
  "late_hours",
  "deleted_monitors",
  "heartbeats",
  "heartbeat_pings",
  // The time from the backup to the restored service is an outage of the service: nobody could receive a ping.
  "service_liveness",
  "service_outages",
  "visual_states",
  "pictures",
  "expiry_registries",
  "expiry_targets",
  "expiry_links",
  "incidents",
  "incident_entries",
  "incident_evidence",
  "maintenance",
  "maintenance_scopes",
  "maintenance_occurrences",
  "mail_recipients",
  "mail_confirmations",
  // The limits of mail to strangers hold over a restore.
  "confirmation_ledger",
  "webhooks",
  "old_alert_keys",
  "failing_receivers",
  "events",
  "deliveries",
  "delivery_attempts",
  "status_pages",
  "status_page_monitors",
  "status_page_logos",
  "status_page_subscribers",
  "released_domains",
];

/** Tables that no backup contains, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  schema_migrations: "the restore applies the migrations itself",
  sessions: "a sign-in ends with its database: a session that was ended must not come back",
  devices: "they belong to sessions",
  one_time_links: "links to sign in or to join work once: a used one must not come back",
  invite_addresses: "they belong to one-time links",
  requested_mails: "mails with one-time links, which may have been sent",
  sign_in_attempts: "limits of minutes",
  request_counts: "limits of a minute and of a day",
  target_counts: "limits of a minute",
  replicas: "signs of life",
  attachments: "which agent is connected to which replica",
  warnings: "what is wrong now, found again in seconds",
  heartbeat_decoys: "rows without content, made by a migration",
  heartbeat_decoy_pings: "rows without content",
  backups: "which files were written here",
};

/** Tables with a partition for each day. */
export const DAY_TABLES: readonly DayTable[] = [CHECKS, ATTEMPTS];

/** The one sequence that no column owns. */
export const FREE_SEQUENCE = "check_ids";
/** Functions that migrations create. */
export const FUNCTIONS: readonly string[] = ["note_deleted_monitors", "mail_address"];
