import type { ListedState } from "#control-plane/monitors/overview.ts";

/** The label and the tone of each state. */
export const STATE_LABELS: Readonly<Record<ListedState, { readonly word: string; readonly tone: string }>> = {
  down: { word: "Down", tone: "bad" },
  degraded: { word: "Degraded", tone: "warn" },
  unknown: { word: "Unknown", tone: "" },
  up: { word: "Up", tone: "good" },
  paused: { word: "Paused", tone: "" },
};
