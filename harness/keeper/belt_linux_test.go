package keeper

// parentDeathSignal says that children end with a killed keeper even when
// they do not read their standard input.
const parentDeathSignal = true
