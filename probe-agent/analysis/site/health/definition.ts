/** The four categories in their order, with their points. */
export const CATEGORIES = [
  { name: "Security Headers", max: 30 },
  { name: "SSL/TLS", max: 25 },
  { name: "Performance", max: 25 },
  { name: "Best Practices", max: 20 },
] as const;

/** Heading of a category. */
export type CategoryName = (typeof CATEGORIES)[number]["name"];

/** A check as it is published, without a finding. */
export interface CheckDefinition {
  readonly category: CategoryName;
  readonly max: number;
  readonly name: string;
  /** What earns all points. */
  readonly expected: string;
  /** What to do where points were lost. */
  readonly how: string;
  readonly reference: string;
}
