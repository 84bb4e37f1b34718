// The lab's JSON, as its Go code writes it: what runs, on what, and what came of it.
declare namespace Json {
  interface Backend {
    name: string;
    tier: string; // '' where there is none
    address: string;
    version: string;
    ok: boolean;
    error?: string;
  }

  interface Service {
    name: string;
    url: string;
    up: boolean;
    paused?: boolean;
    error?: string;
  }

  interface ServiceSettings {
    services: number;
    lease_ms: number;
    wait_ms: number;
    poll_ms: number;
  }

  interface FaultKind {
    kind: string;
    available: boolean;
    missing: string; // why not, in English,
    lack?: Blame; // and by a code
    holder: boolean; // it waits for the holder of a lock
    service: boolean; // it hits the service process that is named
    lasts: boolean; // it has an end of its own
    uses?: string; // it matters only for strategies that need this
    question?: string; // of the matrix, that asks the same
  }

  /** GET /api/lab/v1/status */
  interface Status {
    lab: string;
    version: string;
    limits: Record<string, { min: number; max: number }>;
    token_needed: boolean;
    backends: Backend[];
    services: Service[];
    services_settings: ServiceSettings;
    faults: FaultKind[];
    topology: string; // of the lab's servers
  }

  /** Of GET /api/v1/strategies; one that is asked for by its name has files and a lesson. */
  interface Strategy {
    name: string;
    title: string;
    titles: Record<string, string>;
    other_names?: string[]; // what people call it
    family: string;
    guarantees: Record<string, string>;
    repair?: string;
    needs: string[];
    broken: boolean;
    available: boolean;
    missing: string[];
    unfit_on?: string[]; // topologies
    files?: { name: string; content: string }[];
    lesson?: Record<string, string>;
  }

  interface PlannedFault {
    kind: string;
    service: number;
    at_ms: number;
    for_ms?: number;
    strategy?: string; // whose holder; the first of the run without
  }

  /** What became of a fault. */
  interface Effect {
    took_effect: boolean;
    could_matter: boolean;
    why?: string;
    service?: number;
    units_left?: number;
    in_flight?: number;
    stood_ms?: number;
    point?: string;
    holder?: { request_id: string; user_id: number; quantity: number; command: string; lock_key?: string };
  }

  interface Fault {
    kind: string;
    service: number; // 0: of a holder that has not come
    strategy?: string;
    at_ms: number;
    until_ms?: number;
    state: 'planned' | 'waiting' | 'on' | 'over' | 'failed';
    error?: string;
    effect?: Effect;
  }

  interface Settings extends ServiceSettings {
    strategies: string[];
    stock: number;
    quantity: number;
    profile: 'closed' | 'spike' | 'constant';
    buyers: number; // where no rate says how many
    concurrency: number;
    rate?: number;
    duration_ns?: number;
    seed: string; // more than a number holds
  }

  type RunState = 'preparing' | 'running' | 'stopping' | 'done' | 'failed';
  type Verdict = 'held' | 'oversold' | 'lost' | 'blocked' | 'not_valid';

  /** What a lane's chart is drawn from, every so often. */
  interface Point {
    at: number;
    rate: number;
    p50_ms: number;
    p99_ms: number;
  }

  interface Progress {
    settling: boolean;
    requests: number;
    buyers: number;
    counts: Record<string, number>;
    units: number;
    left: number;
  }

  interface Violation {
    rule: string;
    verdict: Verdict;
    message: string;
    params?: Record<string, any>;
    count: number;
    examples?: string[];
    /** Each of examples as a code with parameters. */
    cases?: { code: string; params: Record<string, any> }[];
  }

  interface Served {
    state: 'served' | 'blocked' | 'not_known';
    longest_ms: number; // without a sale, while buyers asked for what there was
  }

  interface Audit {
    verdict: Verdict;
    initial: number;
    remaining: number;
    sold: number;
    orders: number;
    cancelled: number;
    served?: Served;
    warning?: string; // orders of several strategies met
    violations: Violation[];
  }

  interface Result {
    strategy: { name: string; title: string; stock: string; broken: boolean };
    targets: { url: string; backends: Backend[] }[];
    seconds: number;
    requests: number;
    counts: Record<string, number>; // of requests, by their final answer
    copies?: number;
    retries?: number;
    cancellations?: { done: number; refused: number; unknown: number };
    selling_seconds: number;
    start?: string;
    requests_per_second: number;
    sales_per_second: number;
    latency_us: { p50: number; p99: number };
    commands: { backend: string; count: number; per_purchase: number }[] | null;
    audit: Audit | null;
    problems: (Blame & { text: string })[] | null; // text: in English
    verdict: Verdict;
    signs?: Signs;
  }

  type YesOrNo = 'yes' | 'no' | 'not_known';

  /** The two questions of a verdict: is the ledger right, were buyers served? */
  interface Signs {
    right: YesOrNo | '';
    served: YesOrNo | '';
    short: { code: string; params: Record<string, number> }[] | null;
    limits: { late_ms: number; uncertain: number; sold: number };
  }

  /** One strategy's part in a run. */
  interface Lane {
    strategy: string;
    sku: number;
    command?: string;
    progress?: Progress;
    result?: Result;
    error?: string;
    points?: Point[];
  }

  interface Run {
    id: string;
    settings: Settings;
    state: RunState;
    stopped: boolean;
    started: string;
    error?: string;
    lanes: Lane[];
    faults: Fault[];
    version?: string;
    machine?: { os: string; arch: string; cpus: number; go: string };
    comes_at?: string; // of a run that joins the shop's sale: when its buyers come
  }

  /** What is wrong with a field of what was sent. */
  interface Blame {
    code: string;
    params?: Record<string, any>;
    detail?: string;
  }

  /** An answer that is not a success: problem+json. */
  interface Problem {
    status: number;
    code?: string;
    detail?: string;
    errors?: (Blame & { field: string })[];
  }
}
