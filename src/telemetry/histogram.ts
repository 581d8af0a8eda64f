/**
 * A histogram that is counted in thousands of times a second. The library's builds a text of the labels for each value; of
 * this one, each combination of labels is an object that its user holds.
 */
export class Histogram {
  /** Upper bounds of the buckets, rising; a last one without a bound follows. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] as number)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
  }

  /** As Prometheus reads it: each bucket holds all below it too. */
  samples(name: string, labels: Readonly<Record<string, string>>): HistogramSample[] {
    let count = 0;
    const buckets = this.#counts.map((inBucket, index) => {
      count += inBucket;
      const le = this.bounds[index]?.toString() ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

export interface HistogramSample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Seconds, from what one round trip to the database takes to the deadline of an attempt. */
export const ATTEMPT_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds, from the quickest way to a partner to a queue that stood for an hour. */
export const FIRST_ATTEMPT_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 3_600];
/** Seconds that a call waits for a free connection, or one statement takes. */
export const DATABASE_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
