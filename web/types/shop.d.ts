// The service's JSON: what is on sale, and orders.
declare namespace Json {
  /** GET /api/lab/v1/shop; stock: where the strategy keeps it. */
  interface Shop {
    sku_id: number;
    strategy: string;
    stock: string;
    now: string; // by the lab's clock, as are the times of rivals
    rivals: Rivals | null; // the last that were sent
  }

  /** Buyers of a run that joined the shop's sale. */
  interface Rivals {
    run: string;
    state: RunState;
    stopped: boolean;
    sale: number; // SKU.run
    strategy: string;
    buyers: number;
    comes_at: string;
    answered: number;
    sold: number;
    verdict?: Verdict;
    error?: string;
  }

  /** GET /api/lab/v1/shop/ledger */
  interface ShopLedger {
    run: number;
    initial: number;
    sold: number;
    orders: number;
    cancelled: number;
    twice: number; // units with two holders or more
    holders_known: boolean; // false once units were given back
    latest: ShopOrder[]; // newest first
    yours?: ShopOrder;
  }

  interface ShopOrder {
    place: number; // in the sale, from 1
    user_id: number;
    quantity: number;
    remaining: number;
    status: string;
    holders: number; // of its units, with itself; 0: not known
    at: string;
  }

  /** GET /api/v1/skus/ID */
  interface SKU {
    id: number;
    name: string;
    initial: number;
    num: number;
    run: number;
    starts_at: string | null;
    now: string;
    homes?: Record<string, number>;
  }

  interface Order {
    order_id: string;
    request_id: string;
    sku_id: number;
    user_id: number;
    quantity: number;
    remaining: number;
    status: string;
    strategy: string;
    created_at: string;
  }
}
