/** Scoring curve as in Lighthouse. A value of `p10` scores 0.9 and one of `median` 0.5. Lower values are better. */
export interface ScoreCurve {
  readonly p10: number;
  readonly median: number;
}

/** Argument at which erfc is 1/5, where the curve meets p10. */
const INVERSE_ERFC_ONE_FIFTH = 0.9061938024368232;

/**
 * Scores a value from 0 to 1, rounded to two digits, by the complementary log-normal distribution through both points,
 * as Lighthouse does.
 */
export function logNormalScore({ p10, median }: ScoreCurve, value: number): number {
  if (value <= 0) return 1;
  const distance = Math.log(value / median) / Math.log(median / p10);
  const share = (1 - erf(distance * INVERSE_ERFC_ONE_FIFTH)) / 2;
  // Rounding must not move a score across 0.9 or 0.5, the two points that define the curve.
  const [least, most] = value <= p10 ? [0.9, 1] : value <= median ? [0.5, 0.89] : [0, 0.49];
  return Math.min(most, Math.max(least, Math.round(100 * share) / 100));
}

/** Computes the error function by Abramowitz and Stegun, formula 7.1.26. The maximum error is 1.5e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}
