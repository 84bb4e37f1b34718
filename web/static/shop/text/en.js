// All texts of the shop in English. zh.js has the same keys.
import { count, ms } from '../../ui.js';
import { placeOf } from '../place.js';

const units = (n) => `${count(n)} ${n === 1 ? 'unit' : 'units'}`;
const others = (n) => (n === 1 ? 'one other buyer' : `${count(n)} others`);
const nth = (n) => `${count(n)}${{ one: 'st', two: 'nd', few: 'rd' }[new Intl.PluralRules('en', { type: 'ordinal' }).select(n)] ?? 'th'}`;
const time = (n) => (n < 1000 ? ms(n) : `${(n / 1000).toFixed(1)} s`);
const lastUnit = (all) => (all?.selling_seconds ? `The rivals had their last unit ${time(1000 * all.selling_seconds)} after they came.` : '');

export default {
  title: 'Flash sale',
  skip: 'Skip to the product',
  places: { shop: 'Shop', split: 'Shop and ledger', admin: 'Shop admin' },

  price: '$49', was: '$199', wasLabel: 'before: $199', priceHint: 'for show: you pay nothing',

  loading: 'Loading the sale …',
  nothing: 'Nothing is on sale yet.',
  lost: 'The shop does not answer. Trying again …',
  soldBy: 'Sold by the strategy',

  startsIn: 'The sale starts in',
  startsAt: (time, off) => `on ${time}, by the shop’s clock (± ${Math.ceil(off)} ms)`,
  units: { days: 'days', hours: 'hours', minutes: 'minutes', seconds: 'seconds' },
  on: 'The sale is on',
  left: (n, all) => `${count(n)} of ${count(all)} left`,
  below: (n) => `${count(-n)} more sold than there were`,
  over: 'Sold out',
  gone: 'None left. If a buyer cancels, the unit is for sale again.',
  onePerPerson: 'One per person.',

  buy: 'Buy one',
  buying: 'Buying …',
  wait: 'Not yet',
  ask: 'Ask again',

  results: {
    sold: { title: 'It is yours', text: 'The order is in the ledger.' },
    sold_out: { title: 'Sold out', text: 'The last unit went to another buyer.' },
    duplicate: { title: 'One per person', text: 'You already have one. To buy another, cancel it first.' },
    busy: { title: 'Busy', text: 'Too many buyers at once. Nothing was sold to you. Try again.' },
    not_started: { title: 'Not started', text: 'The shop’s server says that the sale has not started. Nothing was sold to you.' },
    unavailable: { title: 'The shop cannot sell right now', text: 'Nothing was sold to you. Try again in a moment.' },
    looking: { title: 'Looking it up', text: 'The answer was lost. Checking the ledger for your purchase …' },
    unknown: { title: 'Not known yet', text: 'There is no order so far, but it may still appear. Ask again: the same idempotency key cannot buy twice.' },
    refused: { title: 'Refused', text: 'The shop did not accept this order.' },
  },
  order: 'Order',

  you: 'You are buyer',
  change: 'Switch buyer',
  keep: 'Use this number',
  userLabel: 'Buyer’s number',
  userHint: 'The lab has no passwords: any number will do.',
  userWrong: 'Enter a whole number from 1 to 9,007,199,254,740,991.',

  orders: 'Your orders',
  none: 'None yet.',
  active: 'bought', cancelled: 'cancelled', expired: 'expired',
  cancel: 'Cancel',
  cancelling: 'Cancelling …',
  cancelOrder: (id) => `Cancel order ${id}`,
  wasCancelled: 'Cancelled. The unit is for sale again.',
  cancelFailed: (detail) => `Probably not cancelled: ${detail}`,
  ordersLost: 'Your orders cannot be read right now.',

  rivals: {
    title: 'Rivals',
    how: 'How many',
    send: (n) => (n === null ? 'Send rivals' : `Send ${count(n)} rivals`),
    hint: 'They want these units, too, and press three seconds later, or when the sale starts. Press Buy when they do.',
    late: 'Nothing is left to compete for. Shop admin puts the next sale on.',
    wrong: (least, most) => `Enter a whole number from ${count(least)} to ${count(most)}.`,
    come: (n) => `${count(n)} rivals come in`,
    here: (n) => `${count(n)} rivals are pressing. Press Buy!`,
    answered: 'Rivals who have an answer',
    progress: (answered, sold) => `${count(answered)} have an answer, ${count(sold)} have bought.`,
    judging: 'All have an answer. The ledger is being judged …',
    stop: 'Stop the rivals',
    failed: (detail) => `No rivals came: ${detail}`,
    refused: {
      run_in_progress: 'The lab is busy with a run. Rivals can come when it has ended.',
      not_started: 'It is too early: send rivals in the last minute before the start.',
      nothing_on_sale: 'Nothing is on sale. Put something on sale first, under Shop admin.',
      backend_unavailable: 'The shop’s servers do not answer. The Lab shows which ones run.',
      ledger_unavailable: 'The ledger’s database does not answer. The Lab shows which servers run.',
      forbidden: 'Only the machine of the lab may send rivals, or a page that has the lab’s token: enter it under Shop admin.',
      lab_closes: 'The lab is being stopped.',
      not_found: 'This shop belongs to no lab, and only a lab has rivals.',
    },
  },
  story: {
    title: 'What happened',
    shared: {
      title: ({ yours }) => `You and ${others(yours.holders - 1)} hold unit ${count(yours.remaining + yours.quantity)}`,
      text: ({ yours }) => `The ledger has ${count(yours.holders)} orders for this one unit. Only one of you will get it.`,
    },
    never: {
      title: ({ initial, yours }) => `You hold the ${nth(initial - yours.remaining)} unit of ${count(initial)}`,
      text: ({ initial }) => `There are only ${units(initial)}: yours never was there.`,
    },
    got: {
      title: ({ yours }) => `You got it, with the ${nth(yours.place)} order`,
      text: ({ yours }) => (yours.holders === 1 ? `Unit ${count(yours.remaining + yours.quantity)} is in the ledger under your number, and under no other.` : 'The order is in the ledger.'),
    },
    late: {
      title: (_, all) => `Sold out: ${count(all.requests)} rivals were here`,
      text: (_, all, { at, took }) => {
        const place = placeOf(all, at);
        return `You were told after ${time(took)}. ${place ? `You pressed ${time(at - Date.parse(all.start))} after the rivals came, about as the ${nth(place)}. ` : ''}${lastUnit(all)}`;
      },
    },
    unknown: { title: () => 'Not known', text: () => 'Your answer was lost or took too long. That is not “sold out”: you may still have bought. Ask again.' },
    refused: { title: () => 'Nothing was sold to you', text: () => 'The shop refused you for another reason than the stock; the answer above says which.' },
    absent: { title: () => 'You have bought nothing', text: (_, all) => `Press Buy while the rivals do. ${lastUnit(all)}` },
    verdict: {
      held: ({ sold, initial }) => `${count(sold)} of ${units(initial)} sold, each to one buyer.`,
      oversold: ({ sold, initial, twice }) => `${units(sold)} sold, and there were ${count(initial)}.${twice > 0 ? ` ${units(twice)} went to several buyers.` : ''}`,
      lost: () => 'The books do not balance: the run in the Lab has the details.',
      blocked: () => 'The sale stood still while units were left.',
      not_valid: () => 'This run proves nothing: the run in the Lab says why.',
      failed: null,
    },
    play: 'See how it breaks, step by step',
    lesson: (name) => `The lesson on ${name}`,
    run: 'The whole run in the Lab',
    repair: (name) => `Sell with one that holds: ${name}`,
    broken: (name) => `Sell with one that breaks: ${name}`,
  },
  ledger: {
    title: 'The ledger',
    intro: 'Every order, as it is written. Newest first.',
    lost: 'The ledger cannot be read right now. Trying again …',
    left: 'Units left', sold: 'Units sold', twice: 'Sold twice',
    tooMany: (n) => `${units(n)} more sold than there were.`,
    givenBack: 'Orders were cancelled, so a unit may rightly be sold again: buyers of one unit are not counted.',
    orders: 'Latest orders',
    place: 'Order', user: 'Buyer', remaining: 'Told left', holders: 'Unit’s buyers',
    shared: (unit, n) => `⚠ unit ${count(unit)}: ${count(n)}`,
    never: '⚠ never there',
    you: 'you',
    none: 'No orders yet.',
  },

  operator: {
    title: 'Shop admin',
    intro: 'Sets what is on sale. This ends the sale that is on, and its orders with it.',
    now: 'On sale now',
    sold: 'Sold', left: 'Left', starts: 'Starts', strategyNow: 'Strategy', atOnce: 'it has started',
    product: 'Product',
    stock: 'Stock',
    stockHint: 'units for sale',
    start: 'Start',
    starting: { now: 'now', s10: 'in 10 seconds', s60: 'in a minute', s600: 'in ten minutes', at: 'at a time …' },
    time: 'Time',
    timeHint: 'in this machine’s time zone; the server’s clock decides',
    strategy: 'Strategy',
    strategyHint: 'how the service deducts the stock for this shop',
    broken: 'broken on purpose',
    unavailable: 'not available',
    token: 'Token',
    tokenHint: 'this lab was started with a token',
    put: 'Reset and put on sale',
    putAnyway: 'End this sale and start the next',
    sure: (n) => `This sale has sold ${count(n)}. Its orders end with it. Press again to go on.`,
    putting: 'Waiting for purchases in progress …',
    done: 'Done. Buyers see it within a second.',
    half: (detail) => `Perhaps only partly set: ${detail} Set it again.`,
    failed: (detail) => `Not set: ${detail}`,
    wrong: {
      name: 'Enter 1 to 255 characters.',
      stock: 'Enter a whole number from 0 to 1,000,000,000.',
      time: 'Enter a date and a time.',
      token: 'Enter the token that this lab was started with.',
      strategy: 'Choose a strategy that is available.',
    },
  },
};
