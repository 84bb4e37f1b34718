// The service's JSON: what is on sale, and orders.
declare namespace Json {
  /** GET /api/lab/v1/shop; stock: where the strategy keeps it. */
  interface Shop {
    sku_id: number;
    strategy: string;
    stock: string;
    reserves: boolean; // its strategy has reservations,
    accepts: boolean; // or answers in two steps
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
    sold: number; // without
    reserved: number; // units that are not paid yet
    orders: number;
    cancelled: number;
    expired: number; // reservations that were not paid in time
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
    reservation?: ReservationState; // if the order began as one
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
    reservation?: { state: ReservationState; expires_at: string }; // that it began as
  }

  type ReservationState = 'reserved' | 'paid' | 'expired' | 'cancelled';

  /** POST /api/v1/reservations, and GET /api/v1/reservations/ID */
  interface Reservation {
    reservation_id: string; // its order's
    state: ReservationState;
    expires_at: string;
    expires_in_ms: number; // until then, by the database's clock
  }
}
