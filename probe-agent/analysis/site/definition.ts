/** The four categories in order, with their points. */
export const CATEGORIES = [
  { name: "Security Headers", max: 30 },
  { name: "SSL/TLS", max: 25 },
  { name: "Performance", max: 25 },
  { name: "Best Practices", max: 20 },
] as const;

/** Heading of a category. */
export type CategoryName = (typeof CATEGORIES)[number]["name"];

/** Definition of a check. */
export interface CheckDefinition {
  readonly category: CategoryName;
  readonly max: number;
  readonly name: string;
  /** Value that earns all points. */
  readonly expected: string;
  /** Advice if points are lost. */
  readonly how: string;
  readonly reference: string;
}
