// The lab's JSON: comparisons and their results.
declare namespace Json {
  interface CompareSettings {
    preset: string;
    strategies: string[];
    baselines?: string[];
    stock: number;
    skus: number;
    zipf?: number;
    buyers: number;
    concurrency: number;
    quantity: number;
    keys?: boolean; // also without
    crowds?: number[]; // further numbers of buyers at a time
    rounds: number;
    turn_ns: number;
    by: 'answers' | 'sales'; // what the factor is of
    seed: string;
  }

  interface Preset extends CompareSettings {
    name: string;
    says: string;
  }

  interface Comparison {
    id: string;
    settings: CompareSettings;
    command: string;
    services_settings: ServiceSettings;
    state: RunState;
    stopped: boolean;
    started: string;
    done: number;
    total: number;
    turn?: { strategy: string; concurrency: number };
    seconds: number;
    verdicts?: { held: number; caught: number; other: number; not_run: number };
    result?: ComparisonResult;
  }

  /** GET /api/lab/v1/comparisons */
  interface Comparisons {
    comparisons: Comparison[];
    presets: Preset[];
    ranges: Record<string, { min: number; max: number }>;
    history: { folder: string; most: number };
  }

  /** How many times as much as that of relative_to. */
  interface Factor {
    times: number;
    low: number; // to high: the 95 % interval; both 0 with one round
    high: number;
    rounds: number;
  }

  interface Entry {
    strategy: string;
    title: string;
    breaks: boolean;
    proof_breaks?: string;
    baseline?: boolean;
    keyless?: boolean;
    concurrency: number;
    verdict: Verdict | '';
    expected: boolean;
    served: 'yes' | 'no' | 'not_known' | '';
    over: number; // units beyond the stock
    violations: { rule: string; message: string }[];
    reasons: (Blame & { text: string })[]; // why it is not valid
    figures: Record<string, Rounds>;
    factor?: Factor;
    ratios?: Record<string, Factor>; // to itself without keys, to baselines
    latency_curve?: { percent: number; us: number }[];
  }

  interface ComparisonResult {
    machine: { os: string; arch: string; cpus: number; go: string };
    servers: Backend[];
    settings: CompareSettings;
    relative_to: string;
    targets: string[];
    entries: Entry[];
    not_run: { strategy: string; why: string }[];
    problems: string[];
  }
}
