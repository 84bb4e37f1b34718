package hot

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Layers of the service, in the order in which a stack is asked for them.
var layers = []struct {
	name string
	is   func(leaf string, stack []string) bool
}{
	{"garbage", func(_ string, stack []string) bool {
		return within(stack, "runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart")
	}},
	{"waking and sleeping", func(_ string, stack []string) bool {
		return within(stack, "runtime.mcall", "runtime.mstart", "runtime.ready", "runtime.goready", "runtime.schedule")
	}},
	{"system calls", func(leaf string, _ []string) bool {
		return strings.Contains(leaf, "runtime/syscall") || strings.HasPrefix(leaf, "syscall.")
	}},
	{"claims", func(_ string, stack []string) bool { return within(stack, "seckill/internal/ledger.(*Claims)") }},
	{"SQL", func(_ string, stack []string) bool {
		return within(stack, "github.com/go-sql-driver/mysql.", "database/sql.", "gorm.io/gorm.")
	}},
	{"Redis", func(_ string, stack []string) bool { return within(stack, "github.com/redis/go-redis") }},
	{"JetStream", func(_ string, stack []string) bool { return within(stack, "github.com/nats-io/") }},
	{"JSON", func(_ string, stack []string) bool {
		return within(stack, "seckill/internal/web.ReadJSON", "gin/render.", "encoding/json.")
	}},
	{"the strategy", func(_ string, stack []string) bool {
		return within(stack, "seckill/strategies/", "seckill/internal/ledger.")
	}},
	{"the endpoint", func(_ string, stack []string) bool {
		return within(stack, "seckill/internal/httpapi.(*Server).purchase")
	}},
	{"HTTP", func(_ string, stack []string) bool { return within(stack, "net/http.", "github.com/gin-gonic/gin.") }},
	{"the rest", func(string, []string) bool { return true }},
}

// within reports whether a function of the stack is one of these.
func within(stack []string, parts ...string) bool {
	for _, function := range stack {
		for _, part := range parts {
			if strings.Contains(function, part) {
				return true
			}
		}
	}
	return false
}

// cpuSamples are processor time by layer, in the unit of the profile.
type cpuSamples struct {
	by  map[string]float64
	sum float64
}

// layers shares out the processor time of a sale. nil: it is not known.
func (s *cpuSamples) layers(service *float64) map[string]float64 {
	us := map[string]float64{}
	for name, x := range s.by {
		if service != nil && s.sum > 0 {
			us[name] = *service * x / s.sum
		}
	}
	return us
}

// add reads a profile as runtime/pprof writes it: a gzipped protocol buffer,
// described in github.com/google/pprof/proto/profile.proto.
func (s *cpuSamples) add(zipped []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(z, mostProfile))
	if err != nil {
		return err
	}
	var p profileFile
	if err := p.read(body); err != nil {
		return err
	}
	if s.by == nil {
		s.by = map[string]float64{}
	}
	for _, x := range p.samples {
		if len(x.values) == 0 || len(x.locations) == 0 {
			continue
		}
		var stack []string
		for _, l := range x.locations {
			for _, f := range p.locations[l] {
				stack = append(stack, p.text(p.functions[f]))
			}
		}
		if len(stack) == 0 {
			stack = []string{""}
		}
		for _, layer := range layers {
			if layer.is(stack[0], stack) {
				v := float64(x.values[len(x.values)-1]) // the last value is the time
				s.by[layer.name] += v
				s.sum += v
				break
			}
		}
	}
	return nil
}

// profileFile is what a layer needs of a profile.
type profileFile struct {
	samples   []profileSample
	locations map[uint64][]uint64 // functions, the innermost first
	functions map[uint64]uint64   // names, as numbers of texts
	texts     []string
}

type profileSample struct{ locations, values []uint64 }

func (p *profileFile) text(n uint64) string {
	if n >= uint64(len(p.texts)) {
		return ""
	}
	return p.texts[n]
}

// Numbers of fields.
const (
	profileSamples, profileLocations, profileFunctions, profileTexts = 2, 4, 5, 6
	sampleLocations, sampleValues                                    = 1, 2
	locationID, locationLine, lineFunction                           = 1, 4, 1
	functionID, functionName                                         = 1, 2
)

func (p *profileFile) read(body []byte) error {
	p.locations, p.functions = map[uint64][]uint64{}, map[uint64]uint64{}
	return fields(body, func(number protowire.Number, _ uint64, in []byte) error {
		switch number {
		case profileSamples:
			var s profileSample
			p.samples = append(p.samples, s)
			last := &p.samples[len(p.samples)-1]
			return fields(in, func(number protowire.Number, n uint64, packed []byte) error {
				switch number {
				case sampleLocations:
					return appendAll(&last.locations, n, packed)
				case sampleValues:
					return appendAll(&last.values, n, packed)
				}
				return nil
			})
		case profileLocations:
			var id uint64
			var functions []uint64
			err := fields(in, func(number protowire.Number, n uint64, line []byte) error {
				switch number {
				case locationID:
					id = n
				case locationLine:
					return fields(line, func(number protowire.Number, n uint64, _ []byte) error {
						if number == lineFunction {
							functions = append(functions, n)
						}
						return nil
					})
				}
				return nil
			})
			p.locations[id] = functions
			return err
		case profileFunctions:
			var id, name uint64
			err := fields(in, func(number protowire.Number, n uint64, _ []byte) error {
				switch number {
				case functionID:
					id = n
				case functionName:
					name = n
				}
				return nil
			})
			p.functions[id] = name
			return err
		case profileTexts:
			p.texts = append(p.texts, string(in))
		}
		return nil
	})
}

var errNoProfile = errors.New("this is no processor profile")

// fields calls f for each field of a message: n of a number, in of what has a
// length.
func fields(body []byte, f func(number protowire.Number, n uint64, in []byte) error) error {
	for len(body) > 0 {
		number, kind, used := protowire.ConsumeTag(body)
		if used < 0 {
			return errNoProfile
		}
		body = body[used:]
		var n uint64
		var in []byte
		switch kind {
		case protowire.VarintType:
			n, used = protowire.ConsumeVarint(body)
		case protowire.BytesType:
			in, used = protowire.ConsumeBytes(body)
		default:
			used = protowire.ConsumeFieldValue(number, kind, body)
		}
		if used < 0 {
			return errNoProfile
		}
		body = body[used:]
		if err := f(number, n, in); err != nil {
			return err
		}
	}
	return nil
}

// appendAll appends a repeated number: one, or several that are packed.
func appendAll(list *[]uint64, one uint64, packed []byte) error {
	if packed == nil {
		*list = append(*list, one)
		return nil
	}
	for len(packed) > 0 {
		n, used := protowire.ConsumeVarint(packed)
		if used < 0 {
			return errNoProfile
		}
		*list, packed = append(*list, n), packed[used:]
	}
	return nil
}
