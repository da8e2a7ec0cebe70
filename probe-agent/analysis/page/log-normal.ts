/** A curve of Lighthouse's kind: a value of `p10` earns 0.9, one of `median` 0.5, and less is better. */
export interface ScoreCurve {
  readonly p10: number;
  readonly median: number;
}

/** erfc(this) = 1/5: where the curve meets p10. */
const INVERSE_ERFC_ONE_FIFTH = 0.9061938024368232;

/** Score from 0 to 1, two digits: the complementary log-normal distribution through both points, as Lighthouse scores. */
export function logNormalScore({ p10, median }: ScoreCurve, value: number): number {
  if (value <= 0) return 1;
  const distance = Math.log(value / median) / Math.log(median / p10);
  const share = (1 - erf(distance * INVERSE_ERFC_ONE_FIFTH)) / 2;
  // Rounding must not carry a value over the points that give the curve its meaning.
  const [least, most] = value <= p10 ? [0.9, 1] : value <= median ? [0.5, 0.89] : [0, 0.49];
  return Math.min(most, Math.max(least, Math.round(100 * share) / 100));
}

/** Error function by Abramowitz and Stegun, formula 7.1.26: off by 1.5e-7 at most. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}
