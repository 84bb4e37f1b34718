package catalog

var OtherNames = otherNames
