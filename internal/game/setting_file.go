package game

// settingFile is a Setting as it is written in the file of a level.
type settingFile struct {
	Strategy string `yaml:"strategy"`
	Stock    int64  `yaml:"stock"`
	Buyers   []struct {
		Quantity int64  `yaml:"quantity"`
		Does     string `yaml:"does"`
		Process  *int   `yaml:"process"`
		Same     string `yaml:"same"`
		Other    bool   `yaml:"other"`
	} `yaml:"buyers"`
	Faults    []string `yaml:"faults"`
	MaxFaults int      `yaml:"max_faults"`
	Renewals  int      `yaml:"renewals"`
	Clears    bool     `yaml:"clears"`
}

func (f settingFile) setting() Setting {
	s := Setting{Strategy: f.Strategy, Stock: f.Stock, Faults: f.Faults, MaxFaults: f.MaxFaults, Renewals: f.Renewals, Clears: f.Clears}
	if f.Faults == nil {
		s.Faults = []string{}
	} else if f.MaxFaults == 0 {
		s.MaxFaults = 1
	}
	for i, b := range f.Buyers {
		out := Buyer{Name: string(rune('A' + i)), Quantity: b.Quantity, Does: b.Does, Process: i, Same: b.Same, Other: b.Other}
		if b.Does == "" {
			out.Does = "buys"
		}
		if b.Quantity == 0 {
			out.Quantity = 1
		}
		if b.Process != nil {
			out.Process = *b.Process
		}
		s.Buyers = append(s.Buyers, out)
	}
	return s
}
